"""Tensor directories, frozen values and frames as bytes, without Arrow."""
