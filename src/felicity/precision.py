"""How many choices a coarser dtype turns round, on a sample of a run's items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from felicity.errors import RunError
from felicity.manifest import read_manifest, write_manifest
from felicity.participants.memory import Halving
from felicity.stats.accuracy import TIE
from felicity.types import Item, TokenScores, Trial

if TYPE_CHECKING:
    from felicity.participants.base import Participant
    from felicity.runner import Run

SAMPLE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """A run beside the same model in float32.

    Attributes
    ----------
    dtype
        The run's.
    sampled
        Items compared: both answers usable in both.
    otherwise
        Items where another answer has the higher mean log-probability, or a tie has come or gone.
    largest_difference
        Of an answer's mean log-probability, in nats.

    Examples
    --------
    >>> found = Precision(dtype="bfloat16", sampled=200, otherwise=3, largest_difference=0.04)
    >>> in_words(asdict(found))
    '3 of 200 sampled items choose otherwise than in float32'
    """

    dtype: str
    sampled: int
    otherwise: int
    largest_difference: float


def in_words(found: Mapping[str, Any]) -> str:
    """Say it as a manifest holds it."""
    share = f"{found['otherwise']} of {found['sampled']} sampled items"
    return f"{share} choose otherwise than in float32"


def compare_with_float32(run: Run, reference: Participant, *, sample: int = SAMPLE) -> Precision:
    """Score a sample of a run's items in float32, and note in its manifest how choices compare.

    Parameters
    ----------
    run
        A run under another dtype.
    reference
        The same model, tokenizer, method and prefix, opened in float32.
    sample
        At most so many items, evenly spaced over those that the run has: the same run gives the
        same sample.

    Raises
    ------
    RunError
        Where the reference is not in float32 or was asked otherwise, or no item can be compared.
    """
    told = run.manifest["participant"]
    for name, allowed in (
        ("dtype", "float32"),
        ("method", told["method"]),
        ("prefix", told["prefix"]),
        ("tokenizer_fingerprint", told["tokenizer_fingerprint"]),
    ):
        got = getattr(reference.info, name)
        if got != allowed:
            raise RunError(f"{name}: got {got}; expected {allowed}", where="reference in float32")
    rows = run.responses.filter(run.responses["status"] == "ok")
    means = {
        (item, label): float(mean)
        for item, label, mean in rows.select("item_id", "answer_label", "log_prob_mean").iter_rows()
    }
    whole = [item for item in run.study.items if winner_of(means, item) is not None]
    count = min(sample, len(whole))
    items = tuple(whole[i * len(whole) // count] for i in range(count))
    trials = run.study.trials(run.study.format(run.manifest["format"]["name"]), items)
    exact = _means(reference, trials)
    chosen = [
        (winner_of(means, item), other)
        for item in items
        if (other := winner_of(exact, item)) is not None
    ]
    if not chosen:
        raise RunError("no item of this run can be compared", where=str(run.folder))
    found = Precision(
        dtype=str(told["dtype"]),
        sampled=len(chosen),
        otherwise=sum(one != other for one, other in chosen),
        largest_difference=max(
            abs(means[key] - value) for key, value in exact.items() if key in means
        ),
    )
    manifest = read_manifest(run.folder)
    write_manifest(run.folder, {**manifest, "precision": asdict(found)})
    return found


def _means(participant: Participant, trials: Sequence[Trial]) -> dict[tuple[str, str], float]:
    """Score trials; map item and answer to the mean log-probability, where there is one."""
    pairs = list(dict.fromkeys(trial.pair for trial in trials))
    plan = participant.plan(pairs)
    scores: dict[int, TokenScores] = {}
    halving = Halving(participant)
    for batch in plan.batches:
        for scored in halving.score(plan, batch):
            scores.update(zip(scored.places, scored.scores, strict=scored.fits))
    usable = {
        pair: scores[place].log_prob_mean
        for place, pair in enumerate(pairs)
        if place in scores and scores[place].status == "ok"
    }
    return {
        (trial.item_id, trial.answer_label): usable[trial.pair]
        for trial in trials
        if trial.pair in usable
    }


def winner_of(means: Mapping[tuple[str, str], float], item: Item) -> str | None:
    """Return the answer with the highest mean: "" for a tie at the top, None where one is missing.

    Examples
    --------
    >>> item = Item(item_id="i", unit="u", factors={}, question="?", answers={"a": "", "b": ""})
    >>> winner_of({("i", "a"): -2.0, ("i", "b"): -1.0}, item), winner_of({("i", "a"): -2.0}, item)
    ('b', None)
    """
    if any((item.item_id, label) not in means for label in item.answers):
        return None
    ranked = sorted((means[item.item_id, label], label) for label in item.answers)
    (second, _), (best, label) = ranked[-2:]
    return "" if best - second <= TIE else label
