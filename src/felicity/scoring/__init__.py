"""From text to tokens to log-probabilities: the engine. It owns encoding, batching and logits."""
