"""How many tokens a model can read."""

from __future__ import annotations

from typing import Any

LIMIT_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length")
# Positions of these start at pad_token_id + 1, so as many rows of their table are never used.
OFFSET_BY_PAD = frozenset(
    {
        "camembert",
        "data2vec-text",
        "esm",
        "ibert",
        "longformer",
        "luke",
        "mpnet",
        "roberta",
        "roberta-prelayernorm",
        "xlm-roberta",
        "xlm-roberta-xl",
        "xmod",
    }
)


def max_tokens(config: Any) -> int | None:
    """Return the longest input in tokens that a configuration allows; None where it says nothing.

    Examples
    --------
    >>> from types import SimpleNamespace as Config
    >>> max_tokens(Config(model_type="gpt2", n_positions=1024))
    1024
    >>> max_tokens(Config(model_type="roberta", max_position_embeddings=514, pad_token_id=1))
    512
    """
    for name in LIMIT_NAMES:
        limit = getattr(config, name, None)
        if isinstance(limit, int) and limit > 0:
            if config.model_type in OFFSET_BY_PAD:
                return limit - int(getattr(config, "pad_token_id", None) or 0) - 1
            return limit
    return None


def sliding_window(config: Any) -> int | None:
    """Return how far back a model's attention reaches, where a configuration limits that.

    Examples
    --------
    >>> from types import SimpleNamespace as Config
    >>> sliding_window(Config(sliding_window=4096))
    4096
    >>> sliding_window(Config(sliding_window=4096, use_sliding_window=False)) is None
    True
    """
    if getattr(config, "use_sliding_window", True) is False:
        return None
    window = getattr(config, "sliding_window", None)
    return window if isinstance(window, int) and window > 0 else None
