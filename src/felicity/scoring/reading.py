"""A causal model that reads a text once and is then asked what comes next, again and again.

What was read stays in the model's key-value cache. Not every architecture has one that can be cut
back, or obeys a mask in the form of a tree; `open_reader` compares each short cut with the plain
way, which computes everything anew and always is right, before it is used.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

import torch

from felicity.scoring.packed import common_length, only_at
from felicity.scoring.selftest import EXACT, ROUNDED

# plain: no cache. cached: the text is read once. tree: its continuations are read all at once too.
Way = Literal["plain", "cached", "tree"]
SHORT_CUTS: tuple[Way, ...] = ("tree", "cached")
# Long enough that texts of the self-test share a beginning and go on.
PROBE_TOKENS = 24

Ids = tuple[int, ...]


class Reader:
    """Gives log-probabilities of the next token: float32, on the CPU, one for each token.

    Parameters
    ----------
    model
        A transformers causal model, in eval mode.
    way
        From `open_reader`.
    shares
        Whether a text that begins like the last one is read from where they part. The sums are
        then done in other portions, which moves log-probabilities by about 1e-6 in float32.
        Where this is off, a text read twice in a row is still read once, and what is computed
        never depends on what was read before.
    """

    def __init__(self, model: Any, *, way: Way, shares: bool) -> None:
        self._model = model
        self._way = way
        self._shares = shares and way != "plain"
        first = next(model.parameters())
        self._device, self._dtype = first.device, first.dtype
        named = inspect.signature(model.forward).parameters
        # transformers 5.24 has renamed it.
        self._cache_word = "cache" if "cache" in named else "past_key_values"
        self._forget()

    @property
    def way(self) -> Way:
        """How texts are read."""
        return self._way

    def _forget(self) -> None:
        self._text: Ids = ()
        self._after: torch.Tensor | None = None
        self._cache: Any = None
        # The ids that the cache holds: the text, and what was followed after it.
        self._held: Ids = ()

    def read(self, text: Ids) -> torch.Tensor:
        """Read a text; return the log-probabilities of what comes after it."""
        return self.branch(text, ())[0]

    def follow(self, more: Ids) -> torch.Tensor:
        """Return the log-probabilities after the text that was read last and ``more``."""
        if not more:
            assert self._after is not None
            return self._after
        whole = (*self._text, *more)
        keep = min(common_length(whole, self._held), len(whole) - 1)
        with self._all_or_nothing():
            return self._run(whole, keep, ())[0]

    def branch(self, text: Ids, paths: Sequence[Ids]) -> list[torch.Tensor]:
        """Read a text; return the log-probabilities after it and after each continuation of it.

        Parameters
        ----------
        text
            What is read.
        paths
            Continuations, each after all that it begins with: ``(3,)`` stands before ``(3, 5)``.
        """
        together = tuple(paths) if self._way == "tree" else ()
        found: Sequence[torch.Tensor] = ()
        if together or text != self._text:
            shared = min(common_length(text, self._held), len(text) - 1) if self._shares else 0
            with self._all_or_nothing():
                found = list(self._run(text, shared, together))
            self._text, self._after = text, found[0]
        if together:
            return list(found)
        return [self.follow(()), *(self.follow(path) for path in paths)]

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Forget all when a pass is broken off, so that nothing half read is taken for read."""
        try:
            with torch.inference_mode():
                yield
        except BaseException:
            self._forget()
            raise

    def _run(self, whole: Ids, keep: int, paths: Sequence[Ids]) -> torch.Tensor:
        """Run the model over what stands after the first ``keep`` ids, which the cache holds.

        Returns
        -------
        Tensor
            One row after the whole, and one after each path.
        """
        if self._way == "plain":
            mask = torch.ones((1, len(whole)), dtype=torch.long, device=self._device)
            return self._logits(whole, [len(whole) - 1], attention_mask=mask, use_cache=False)
        cache, new = self._cut_cache(keep), whole[keep:]
        options: dict[str, Any] = {"use_cache": True, self._cache_word: cache}
        if not paths:
            mask = torch.ones((1, len(whole)), dtype=torch.long, device=self._device)
            found = self._logits(new, [len(new) - 1], attention_mask=mask, **options)
        else:
            sees, positions = tree_mask(len(whole), keep, paths)
            mask = torch.zeros(sees.shape, dtype=self._dtype)
            mask = mask.masked_fill_(~sees, torch.finfo(self._dtype).min)
            options["attention_mask"] = mask[None, None].to(self._device)
            options["position_ids"] = torch.tensor([positions], device=self._device)
            nodes = [len(new) + number for number in range(len(paths))]
            ids = (*new, *(path[-1] for path in paths))
            found = self._logits(ids, [len(new) - 1, *nodes], **options)
            cache.crop(-len(paths))
        self._held = whole
        return found

    def _cut_cache(self, keep: int) -> Any:
        from transformers import DynamicCache

        if self._cache is None or keep == 0:
            # Made without the model's configuration it keeps all, also beyond a sliding window;
            # the mask hides what is beyond.
            self._cache = DynamicCache()
        elif keep < len(self._held):
            self._cache.crop(keep - len(self._held))
        return self._cache

    def _logits(self, ids: Ids, places: Sequence[int], **options: Any) -> torch.Tensor:
        head = self._model.get_output_embeddings()
        row = torch.tensor([ids], device=self._device)
        # The head, a fifth of a small model's work, is computed where it is needed only.
        narrow = nullcontext() if head is None else only_at(head, [0] * len(places), places)
        with narrow:
            logits = self._model(input_ids=row, **options).logits[0]
        found = logits[list(places)] if head is None else logits
        log_probs: torch.Tensor = found.float().log_softmax(-1).cpu()
        return log_probs


def tree_mask(size: int, keep: int, paths: Sequence[Ids]) -> tuple[torch.Tensor, list[int]]:
    """Say what each new token sees, and its position: the rest of a text, then a tree after it.

    Parameters
    ----------
    size, keep
        Tokens of the text, and how many of them the cache holds.
    paths
        The tree's nodes, each after those before it; all follow the text.

    Examples
    --------
    >>> sees, positions = tree_mask(2, 1, [(7,), (8,), (8, 9)])
    >>> sees.int().tolist()
    [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 1, 0, 1, 1]]
    >>> positions
    [1, 2, 2, 3]
    """
    new = size - keep
    sees = torch.ones((new + len(paths), size + len(paths)), dtype=torch.bool).tril(keep)
    sees[new:, size:] = False
    place = {path: number for number, path in enumerate(paths)}
    for path, number in place.items():
        if path[:-1]:
            # A node sees what the one before it sees, and itself.
            sees[new + number] = sees[new + place[path[:-1]]]
        sees[new + number, size + number] = True
    return sees, [*range(keep, size), *(size + len(path) - 1 for path in paths)]


def open_reader(model: Any, probe: Ids, *, shares: bool) -> Reader:
    """Make a reader that takes the short cuts which give what the plain way gives.

    Parameters
    ----------
    model
        A transformers causal model, in eval mode.
    probe
        Any text of a dozen tokens or more, for the comparison.
    shares
        As for `Reader`.
    """
    exact = next(model.parameters()).dtype == torch.float32
    expected = _tour(Reader(model, way="plain", shares=False), probe)
    for way in SHORT_CUTS:
        try:
            found = _tour(Reader(model, way=way, shares=True), probe)
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
            # The model's class cannot take this short cut.
            continue
        worst = max(float((a - b).abs().max()) for a, b in zip(found, expected, strict=True))
        if worst <= (EXACT if exact else ROUNDED):
            return Reader(model, way=way, shares=shares)
    return Reader(model, way="plain", shares=False)


def _tour(reader: Reader, probe: Ids) -> list[torch.Tensor]:
    """Use a reader in every way in which it is used."""
    probe = probe[:PROBE_TOKENS]
    half, (a, b, c) = len(probe) // 2, probe[:3]
    paths = ((a,), (a, b), (c,), (c, a), (c, b))
    return [
        *reader.branch(probe, paths),
        reader.follow((b,)),
        reader.follow((b, c)),
        *reader.branch((*probe[:half], c, b, a), paths),
        reader.read(probe),
        reader.read(probe[:half]),
        reader.follow((a, c)),
        reader.follow((a, b)),
    ]
