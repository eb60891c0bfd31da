"""Objects of other libraries, read by code that looks before it follows."""
