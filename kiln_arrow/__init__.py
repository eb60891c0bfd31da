"""Kiln: canonical tensor directories, frozen values and frames, and their Arrow columns."""
