"""The report of a rating study."""
