"""Private: what the packages arrow_digest and kiln_arrow share, so that neither has to import the other.

Both commands read files by this one reader, and therefore both are as strict: a file that ends early, goes on after its
end, or has a page whose checksum is wrong is refused by either.
"""
