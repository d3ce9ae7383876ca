"""Runs as users make them, by command line or in Python: opened, run, told of, summed up."""
