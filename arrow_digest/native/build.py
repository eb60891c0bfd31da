"""How the C library becomes `arrow_digest.native._kernels`: cffi's API mode, on the stable ABI."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from cffi import FFI

__all__ = ["ffi_builder"]

_HERE = Path(__file__).parent

# The order in which keccak_lanes.h writes its operations is the one that runs fastest; these keep it.
_OPTIMIZE = ["-O3", "-g0", "-std=c11", "-fno-tree-reassoc", "-fno-schedule-insns2"]
_WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wvla", "-Wno-sign-conversion", "-Wno-psabi"]
# Python's own flags have -fwrapv, under which no signed overflow is seen; other compilers do without it.
_SANITIZE = ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-wrapv"]
_SANITIZE += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def ffi_builder() -> FFI:
    """Return cffi's builder of the extension module.

    Environment:
        ARROW_DIGEST_WERROR: 1 to take the C compiler's warnings for errors.
        ARROW_DIGEST_SANITIZE: 1 to build with AddressSanitizer and UndefinedBehaviorSanitizer.
    """
    builder = FFI()
    header = (_HERE / "kernels.h").read_text("utf-8")
    builder.cdef("\n".join(line for line in header.splitlines() if not line.startswith("#")))
    compile_args = ["/O2", "/std:c11"]
    link_args: list[str] = []
    if sys.platform != "win32":
        compile_args = _OPTIMIZE + _WARNINGS
        if os.environ.get("ARROW_DIGEST_WERROR") == "1":
            compile_args = [*compile_args, "-Werror"]
        if os.environ.get("ARROW_DIGEST_SANITIZE") == "1":
            compile_args = [*compile_args, *_SANITIZE]
            link_args = ["-fsanitize=address,undefined"]
    builder.set_source(
        "arrow_digest.native._kernels",
        '#include "kernels.h"',
        # Relative, as setuptools wants them. What cffi writes is not beside them.
        sources=[f"arrow_digest/native/{path.name}" for path in sorted(_HERE.glob("*.c"))],
        depends=[f"arrow_digest/native/{path.name}" for path in sorted(_HERE.glob("*.h"))],
        include_dirs=["arrow_digest/native"],
        extra_compile_args=compile_args,
        extra_link_args=link_args,
        # One binary for every CPython from 3.10 on. Its free-threaded builds have no stable ABI yet.
        py_limited_api=not sysconfig.get_config_var("Py_GIL_DISABLED"),
    )
    return builder
