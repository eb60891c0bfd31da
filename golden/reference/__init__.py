"""The slow, readable truth: what the specifications of tree0 and bag0 say, value by value.

`records` holds what both share, types and values; `arrays` reads values out of Arrow's memory; `tree0` and `bag0` are
what each does with them. Nothing here imports a package of this project, and nothing is fast.
"""
