"""The C library: encoders and SHA3-256 in SIMD lanes. It knows nothing of Python objects.

`encode.native` binds it, but for the check of views, which `views` calls.
"""
