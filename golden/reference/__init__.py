"""The slow, readable truth: what the specifications say, value by value.

`arrow0` is the whole of that rule set. `records` holds what tree0 and bag0 share, types and values; `arrays` reads
values out of Arrow's memory; `tree0` and `bag0` are what each does with them. `kiln` reads tensor directories, type
texts, frozen values and frames. Nothing here imports a package of this project, and nothing is fast.
"""
