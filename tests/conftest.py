"""Profiles of Hypothesis, and the check that the tests import the package that they are meant to test.

`ci` draws the same examples on every run, so that a failure is a failure for everybody. `dev` draws new ones. Both draw
a quarter as many where `KILN_TEST_EXAMPLES=few`.
"""

import os

from hypothesis import HealthCheck, settings

from helpers.examples import examples

_ALL = settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", _ALL, derandomize=True)
settings.register_profile("dev", _ALL)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_configure(config):
    """Where the installed wheel is what has to be tested, make sure that it is."""
    if os.environ.get("KILN_TEST_INSTALLED"):
        os.environ["PYTHONSAFEPATH"] = "1"  # nor may the processes that tests start import from here
        import arrow_digest
        import kiln_arrow

        for package in (arrow_digest, kiln_arrow):
            if str(config.rootpath / package.__name__) in str(package.__file__):
                raise RuntimeError(f"{package.__name__} was imported from the source tree, not from the wheel")
