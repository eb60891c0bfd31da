"""Arrow arrays as this project sees them, whatever the rule set."""
