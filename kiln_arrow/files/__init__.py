"""Kiln columns in files, and the tensors of other formats."""
