"""Manifests and lists of hashes, and the folders that they describe."""
