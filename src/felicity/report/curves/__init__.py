"""Learning curves over checkpoints."""
