"""The rule set arrow0, the Open Data Fabric's standard."""
