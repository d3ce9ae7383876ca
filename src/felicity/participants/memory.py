"""How much fits at once: the size of a batch, and what to do when it was too much after all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from felicity.participants.base import Participant, Plan
    from felicity.types import TokenScores

# On a processor a larger batch is no faster, and 1,024 tokens fit anywhere.
BATCH_TOKENS = 1024
MOST_TOKENS = 65536
# Of what is free: the rest is for what no formula knows of, and for other processes.
SHARE = 0.5
# The methods whose texts go through a model in many masked copies.
COPIES = ("pll_within_word_l2r", "pll_original")
# What architectures call the width of the inner layer.
INNER = ("intermediate_size", "n_inner", "d_ff", "ffn_dim", "encoder_ffn_dim")
OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "Cannot allocate memory")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory did not suffice, on whatever device.

    Examples
    --------
    >>> is_out_of_memory(RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"))
    True
    >>> is_out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    False
    """
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in OUT_OF_MEMORY)


def choose_batch_tokens(model: Any) -> int:
    """Return how many tokens go into one forward pass, by the memory that is free now."""
    import torch

    devices = {weight.device for weight in model.parameters() if weight.device.type == "cuda"}
    if not devices:
        return BATCH_TOKENS
    free = min(torch.cuda.mem_get_info(device)[0] for device in devices)
    return batch_tokens_for(free, model.config, next(model.parameters()).element_size())


def batch_tokens_for(free: int, config: Any, element_size: int) -> int:
    """Return how many tokens fit into ``free`` bytes, a power of two.

    Parameters
    ----------
    free
        Bytes.
    config
        Of the model: what a token takes is reckoned from its widths.
    element_size
        Bytes of a number in the model's dtype.

    Returns
    -------
    int
        From 256 to 65,536.

    Examples
    --------
    >>> from types import SimpleNamespace as Config
    >>> small = Config(hidden_size=768, vocab_size=50257)
    >>> batch_tokens_for(8 * 2**30, small, 4), batch_tokens_for(2**28, small, 4)
    (8192, 256)
    """
    hidden = _width(config, "hidden_size", "d_model") or 1024
    inner = _width(config, *INNER) or 4 * hidden
    vocabulary = _width(config, "vocab_size") or 50000
    # Within a layer: states, queries, keys, values, their heads, two widths of the inner layer.
    # At the head, should it be computed at each place: logits as they are and in float32.
    layer = element_size * (10 * hidden + 3 * inner)
    head = vocabulary * (element_size + 4)
    tokens = int(SHARE * free / (layer + head))
    size = 256
    while size * 2 <= min(tokens, MOST_TOKENS):
        size *= 2
    return size


def _width(config: Any, *names: str) -> int:
    """Return the first of these that a configuration has, else 0."""
    return next((int(value) for name in names if (value := getattr(config, name, None))), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What became of some texts of a plan.

    Attributes
    ----------
    places
        Which texts, as indices into the plan.
    scores
        One for each; empty where a single text does not fit into memory.
    reason
        Why there are none, where it is not for memory.
    """

    places: tuple[int, ...]
    scores: tuple[TokenScores, ...]
    reason: str = ""

    @property
    def fits(self) -> bool:
        """False for a text that cannot be scored on this machine."""
        return bool(self.scores)


class Halving:
    """Scores batches; one that does not fit into memory is scored in halves.

    Scores depend on no neighbour, so halving changes none. What did not fit once is not tried again
    at that size.

    Parameters
    ----------
    participant
        Whoever scores.
    """

    def __init__(self, participant: Participant) -> None:
        self._participant = participant
        self._too_much: int | None = None

    def score(self, plan: Plan, batch: Sequence[int]) -> Iterator[Scored]:
        """Yield the scores of a batch, in pieces as large as fit, in its order."""
        size = plan.tokens_held(batch)
        scores = None
        if len(batch) == 1 or self._too_much is None or size < self._too_much:
            scores = self._try(self._participant, plan, batch)
        if scores is None and len(batch) == 1:
            scores = self._in_small_steps(plan, batch)
        if scores is not None or len(batch) == 1:
            yield Scored(places=tuple(batch), scores=tuple(scores or ()))
            return
        self._too_much = min(size, self._too_much or size)
        middle = len(batch) // 2
        yield from self.score(plan, batch[:middle])
        yield from self.score(plan, batch[middle:])

    def _in_small_steps(self, plan: Plan, batch: Sequence[int]) -> list[TokenScores] | None:
        """Score one text whose many masked copies do not fit at once, fewer and fewer at a time."""
        participant: Any = self._participant
        width = len(plan.encoded[batch[0]].ids)
        copies = plan.encoded[batch[0]].stop - plan.encoded[batch[0]].start
        steps = participant.batch_tokens // width if participant.info.method in COPIES else 1
        steps = min(steps, copies)
        while steps > 1:
            steps //= 2
            smaller = replace(participant, batch_tokens=steps * width)
            scores = self._try(smaller, plan, batch)
            if scores is not None:
                return scores
        return None

    @staticmethod
    def _try(
        participant: Participant, plan: Plan, batch: Sequence[int]
    ) -> list[TokenScores] | None:
        try:
            return participant.score(plan, batch)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
        # Only here, out of the handler, is nothing left that holds the tensors of the failed pass.
        _release()
        return None


def _release() -> None:
    """Give memory back that the allocator keeps for later."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    elif torch.backends.mps.is_available():
        torch.mps.empty_cache()
