"""Models in groups, side by side and against what others published."""
