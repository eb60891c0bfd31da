"""The Open Data Fabric logical hash (arrow0) of Arrow and Parquet data."""
