"""torch's tests are collected where its CPU build is installed for them (`make test-torch` sets the variable)."""

import os

TORCH = os.environ.get("KILN_TEST_TORCH") == "1"

collect_ignore = [] if TORCH else ["test_torch.py"]


def pytest_configure(config):
    config.addinivalue_line("markers", "torch: needs torch's CPU build; collected when KILN_TEST_TORCH=1")
