"""One leaf's values as arrow0's byte stream."""
