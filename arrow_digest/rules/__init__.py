"""What a logical hash is: rule sets, and records hashed by any of them."""
