"""The one judge of structure: arrays become trees of nodes, in which nothing that a row comes to points outside.

`describe` is all that other rooms use. Everything that decides whether an array is sound is in this folder: what
pyarrow may be asked at all (`lengths`), each layout (`layouts`), views (`views`), and which slots rows come to
(`reach`), because some layouts are judged there alone.
"""

from arrow_digest.arrays.describe.layouts import describe

__all__ = ["describe"]
