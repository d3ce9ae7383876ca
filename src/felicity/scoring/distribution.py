"""The raw response of ``expected``: a distribution over a scale as JSON, and what follows from it.

Pure, and without torch: a run's distributions are read again on any machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from felicity.types import Scale

DISTRIBUTION_PARSER_VERSION = "1"
# Above this the model was not about to write a number of the scale, and what is left is noise.
OUTSIDE_LIMIT = 0.99
# How far a sum of probabilities written as JSON may lie from 1.
ROUNDING = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """The probability of each value of a scale, and of all else.

    Attributes
    ----------
    probabilities
        Value to probability, as the model gives it: their sum is 1 − ``outside``.
    outside
        Probability that no number of the scale comes next.

    Examples
    --------
    >>> found = Distribution(probabilities={1: 0.2, 2: 0.2, 3: 0.4}, outside=0.2)
    >>> found.mean, found.entropy_bits
    (2.25, 1.5)
    """

    probabilities: Mapping[int, float]
    outside: float

    @property
    def normalised(self) -> dict[int, float]:
        """Value to probability given that it is a number of the scale; empty where none can be."""
        total = math.fsum(self.probabilities.values())
        if total <= 0:
            return {}
        return {value: p / total for value, p in self.probabilities.items()}

    @property
    def mean(self) -> float:
        """Σ v·P(v) / Σ P(v), NaN where no value has any probability."""
        shares = self.normalised
        return math.fsum(v * p for v, p in shares.items()) if shares else math.nan

    @property
    def entropy_bits(self) -> float:
        """−Σ p·log2(p) of the normalised distribution, NaN where no value has any probability.

        0 is certain; log2 of the number of values is none the likelier.
        """
        shares = self.normalised.values()
        if not shares:
            return math.nan
        return -math.fsum(p * math.log2(p) for p in shares if p > 0) + 0.0


@dataclass(frozen=True, slots=True)
class ParsedDistribution:
    """What a distribution says: its mean, or none, and a status; ``span`` is always None."""

    value: float | None
    status: str
    span: tuple[int, int] | None = None


def distribution_text(log_probs: Mapping[int, float]) -> str:
    """Write a distribution as the raw reply: probability per value, and the mass outside.

    Parameters
    ----------
    log_probs
        Value to natural-log probability.

    Examples
    --------
    >>> distribution_text({1: math.log(0.25), 2: math.log(0.5)})
    '{"probabilities": {"1": 0.25, "2": 0.5}, "outside": 0.25}'
    """
    probabilities = {str(value): math.exp(log_prob) for value, log_prob in log_probs.items()}
    # Sums of float32 may pass 1 by a rounding error.
    outside = max(0.0, 1.0 - math.fsum(probabilities.values()))
    return json.dumps({"probabilities": probabilities, "outside": outside})


def read_distribution(text: str) -> Distribution | None:
    """Read what `distribution_text` has written; None where the text is nothing of the kind.

    Examples
    --------
    >>> read_distribution('{"probabilities": {"1": 0.25, "2": 0.5}, "outside": 0.25}').outside
    0.25
    >>> read_distribution("5") is None
    True
    """
    try:
        found: Any = json.loads(text)
        probabilities = {int(v): float(p) for v, p in found["probabilities"].items()}
        outside = float(found["outside"])
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    masses = [*probabilities.values(), outside]
    if not all(0 <= mass <= 1 + ROUNDING for mass in masses) or not probabilities:
        return None
    if abs(math.fsum(masses) - 1) > ROUNDING:
        return None
    return Distribution(probabilities=probabilities, outside=outside)


def parse_distribution(
    text: str,
    finish: str,
    scale: Scale,
    *,
    reasoning: str | None = None,  # noqa: ARG001 - every parser is called with it
) -> ParsedDistribution:
    """Return the mean of a distribution over the scale, or none with the reason.

    Parameters
    ----------
    text
        A reply under ``expected``.
    finish
        Only ``stop`` is a whole reply.
    scale
        Whose values the distribution must be over.
    reasoning
        Not looked at: under ``expected`` there is none.

    Returns
    -------
    ParsedDistribution
        ``ok``; or ``unparsed`` and no value where the text is no distribution over this scale, or
        more than `OUTSIDE_LIMIT` of it lies outside the scale.

    Examples
    --------
    >>> scale = Scale(low=1, high=2)
    >>> parse_distribution('{"probabilities": {"1": 0.25, "2": 0.75}, "outside": 0}', "stop", scale)
    ParsedDistribution(value=1.75, status='ok', span=None)
    >>> parse_distribution('{"probabilities": {"1": 0, "2": 0.002}, "outside": 0.998}', "stop",
    ...                    scale).status
    'unparsed'
    """
    found = read_distribution(text) if finish == "stop" else None
    if found is None or set(found.probabilities) != set(scale.values):
        return ParsedDistribution(None, "unparsed")
    if found.outside > OUTSIDE_LIMIT or not found.normalised:
        return ParsedDistribution(None, "unparsed")
    return ParsedDistribution(found.mean, "ok")
