"""Judging a set in the browser: one dialogue at a time, blind to the violator and to others."""
