"""Measures: numpy and scipy only, values in and values out."""
