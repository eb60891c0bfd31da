"""What cffi builds from kernels.h."""

from typing import Any

ffi: Any
lib: Any
