"""Whole files, and many of them."""
