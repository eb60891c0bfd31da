"""Builds the native kernels. If that fails, the package is installed without them, unless they are required.

Environment:
    ARROW_DIGEST_REQUIRE_NATIVE: 1 to make a failed build an error.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any

from setuptools import Extension, setup

_REQUIRED = os.environ.get("ARROW_DIGEST_REQUIRE_NATIVE") == "1"


def _extensions() -> list[Extension]:
    try:
        builder: Any = runpy.run_path("arrow_digest/native/build.py")["ffi_builder"]()
    except ImportError as error:
        if _REQUIRED:
            raise
        print(f"warning: arrow_digest: built without native kernels: {error}", file=sys.stderr)
        return []
    extension: Extension = builder.distutils_extension("build/cffi")
    extension.optional = not _REQUIRED
    return [extension]


setup(ext_modules=_extensions(), options={"bdist_wheel": {"py_limited_api": "cp310"}})
