"""Print which kernels are active; fail unless they are the ones named, if any are. `lanes` prints the lane counts."""

import sys

from arrow_digest import kernels

active = kernels()
if sys.argv[1:] == ["lanes"]:
    print(*(lanes for lanes in (1, 2, 4, 8) if lanes <= active.lanes and active.name == "native"))
    sys.exit()
print(f"kernels: {active.name}, {active.lanes} lanes ({active.reason})")
if sys.argv[1:] and active.name != sys.argv[1]:
    sys.exit(f"expected {sys.argv[1]} kernels")
