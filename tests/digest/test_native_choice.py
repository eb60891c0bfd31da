"""Which kernels are active is said, decided by the environment, and never left to chance."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import arrow_digest as ad

ROOT = Path(__file__).parents[2]
HASH = "f9680c001205684f7bfdcaf4ff7d1f9bf0fd766c98d8ded335e933fb4eec245054f3206b61a"
SAY = """
import pyarrow as pa, arrow_digest as ad
print(ad.kernels().name, ad.kernels().lanes)
print(ad.kernels().reason)
print(ad.logical_hash(pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": ["a", "b", "c"]})))
"""
# As if the wheel had been built where there is no compiler.
WITHOUT_LIBRARY = "import sys; sys.modules['arrow_digest.native._kernels'] = None\n"

native = pytest.mark.skipif(ad.kernels().name != "native", reason="the native kernels are not active")


def run(code, **environment):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ARROW_DIGEST_")}
    folder = Path(ad.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=kept | environment, capture_output=True, text=True, check=False
    )


def say(code=SAY, **environment):
    result = run(code, **environment)
    assert result.returncode == 0, result.stderr
    active, reason, digest = result.stdout.splitlines()
    assert digest == HASH
    return active, reason


def test_portable_kernels_can_be_asked_for():
    assert say(ARROW_DIGEST_KERNELS="portable") == ("portable 1", "ARROW_DIGEST_KERNELS is portable")


def test_without_the_library_the_portable_kernels_say_why():
    active, reason = say(WITHOUT_LIBRARY + SAY)
    assert active == "portable 1"
    assert "without the native kernels" in reason
    assert "_kernels" in reason


def test_without_the_library_native_kernels_cannot_be_asked_for():
    result = run(WITHOUT_LIBRARY + SAY, ARROW_DIGEST_KERNELS="native")
    assert result.returncode != 0
    assert "Error" in result.stderr
    assert "arrow_digest.native._kernels" in result.stderr


def test_a_big_endian_machine_is_refused_when_the_package_is_imported():
    code = """
import sys, numpy, pyarrow
sys.byteorder = "big"
try:
    import arrow_digest
except ImportError as error:
    from arrow_digest.errors import PlatformError
    assert isinstance(error, PlatformError), error
    print(error.rule, error)
"""
    result = run(code)
    assert result.stdout.startswith("byte_order arrow_digest runs on little-endian machines"), result.stderr


@native
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_a_lane_count_is_taken_or_refused_never_changed(lanes):
    most = say(ARROW_DIGEST_KERNELS="native")[0].split()[1]
    if lanes <= int(most):
        assert say(ARROW_DIGEST_LANES=str(lanes)) == (f"native {lanes}", f"ARROW_DIGEST_LANES is {lanes}")
    else:
        result = run(SAY, ARROW_DIGEST_LANES=str(lanes))
        assert result.returncode != 0
        assert f"this CPU runs up to {most} lanes, found {lanes}" in result.stderr


@pytest.mark.parametrize(
    ("name", "value"), [("KERNELS", "fast"), ("LANES", "3"), ("LANES", "16"), ("LANES", "0"), ("LANES", "many")]
)
def test_an_unknown_choice_is_refused(name, value):
    result = run(SAY, **{f"ARROW_DIGEST_{name}": value})
    assert result.returncode != 0
    assert f"ValueError: ARROW_DIGEST_{name}: expected" in result.stderr
    assert repr(value) in result.stderr


@pytest.mark.parametrize("required", ["", "1"])
def test_a_failed_build_is_an_error_only_where_the_library_is_required(required, tmp_path):
    pytest.importorskip("setuptools")
    pytest.importorskip("cffi")
    if os.name == "nt":
        pytest.skip("the compiler is not named by CC")
    arguments = ["build_ext", "--build-lib", str(tmp_path / "lib"), "--build-temp", str(tmp_path / "temp")]
    environment = os.environ | {"CC": "false", "ARROW_DIGEST_REQUIRE_NATIVE": required}
    result = subprocess.run(
        [sys.executable, "setup.py", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (result.returncode != 0) == (required == "1"), result.stderr
    assert not list(tmp_path.rglob("_kernels.*.so"))
