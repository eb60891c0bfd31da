"""Tests that need a large package are collected where it is installed for them, which a variable says.

`make test-torch` and `make test-lance` install and set it.
"""

import os

TORCH = os.environ.get("KILN_TEST_TORCH") == "1"

LANCE = os.environ.get("KILN_TEST_LANCE") == "1"

collect_ignore = [] if TORCH else ["test_torch.py", "test_arrow_torch.py"]
collect_ignore += [] if LANCE else ["test_arrow_lance.py"]


def pytest_configure(config):
    config.addinivalue_line("markers", "torch: needs torch's CPU build; collected when KILN_TEST_TORCH=1")
