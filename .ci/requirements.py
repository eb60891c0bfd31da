"""Print requirements from pyproject.toml: the extras named, or `runtime` for the dependencies.

The tools need the packages' dependencies for their types, but not the packages themselves.
"""

import re
import sys
from pathlib import Path

text = (Path(__file__).parent.parent / "pyproject.toml").read_text()
for name in sys.argv[1:]:
    key = "dependencies" if name == "runtime" else name
    block = re.search(rf"^{key} = \[(.*?)\]", text, re.MULTILINE | re.DOTALL)
    if block is None:
        sys.exit(f"no {key} in pyproject.toml")
    print(*re.findall(r'"([^";]+)[^"]*"', block[1]))
