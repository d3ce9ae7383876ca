"""How many choices a coarser dtype turns round, on a sample of a run's items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from felicity.errors import RunError
from felicity.manifest import read_manifest, write_manifest
from felicity.participants.memory import Halving
from felicity.stats.accuracy import TIE
from felicity.types import TokenScores, Trial

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
    first, second = run.study.design.answers
    whole = [
        item
        for item in run.study.items
        if (item.item_id, first) in means and (item.item_id, second) in means
    ]
    count = min(sample, len(whole))
    items = tuple(whole[i * len(whole) // count] for i in range(count))
    trials = run.study.trials(run.study.format(run.manifest["format"]["name"]), items)
    exact = _means(reference, trials)
    pairs = [
        (means[item.item_id, first] - means[item.item_id, second], *both)
        for item in items
        if (both := _both(exact, item.item_id, first, second)) is not None
    ]
    if not pairs:
        raise RunError("no item of this run can be compared", where=str(run.folder))
    found = Precision(
        dtype=str(told["dtype"]),
        sampled=len(pairs),
        otherwise=sum(_choice(margin) != _choice(a - b) for margin, a, b in pairs),
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


def _both(
    means: Mapping[tuple[str, str], float], item: str, first: str, second: str
) -> tuple[float, float] | None:
    if (item, first) not in means or (item, second) not in means:
        return None
    return means[item, first], means[item, second]


def _choice(margin: float) -> int:
    """Return which answer wins: 1 the first, −1 the second, 0 neither."""
    return 0 if abs(margin) <= TIE else 1 if margin > 0 else -1
