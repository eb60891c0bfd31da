"""Kiln's extension types, and columns of them."""
