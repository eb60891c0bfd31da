"""Anything that holds records, as a schema and batches."""
