"""The C library: encoders and SHA3-256 in SIMD lanes. It knows nothing of Python objects.

`rules.arrow0.native` binds it, but for the check of views, which `arrays.describe.views` calls.
"""
