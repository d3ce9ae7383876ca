"""The report of a choice study."""
