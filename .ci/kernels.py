"""Print which kernels are active; fail unless they are the ones named, if any are."""

import sys

from arrow_digest import kernels

active = kernels()
print(f"kernels: {active.name}, {active.lanes} lanes ({active.reason})")
if sys.argv[1:] and active.name != sys.argv[1]:
    sys.exit(f"expected {sys.argv[1]} kernels")
