"""Are these the same records, and if not, where do they differ?"""
