"""What a check returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Literal

from felicity.build.folder import BuildFolder
from felicity.build.wording import Wording

# "mean" over what was looked at, its "max", or the "share" of it in which something was found.
Figure = Literal["mean", "max", "share"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """What a check found at one place.

    Attributes
    ----------
    maxim
        Its maxim; "" where it belongs to none.
    unit, wording
        Which dialogue (or template, name, rule) and, where that matters, which wording.
    figure
        A number.
    problem
        What is wrong, in words; "" where nothing is.
    """

    maxim: str
    unit: str
    figure: float
    wording: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check of a set.

    Attributes
    ----------
    name, what
        Its short name, and what its figure is.
    figure
        How values become one figure.
    allowed
        What is not flagged, in words.
    values
        One for each place that was looked at.
    """

    name: str
    what: str
    figure: Figure
    allowed: str
    values: tuple[Value, ...]

    def of(self, maxim: str | None = None) -> float | None:
        """Return the figure for a maxim, or for all; None where nothing was looked at."""
        values = [v for v in self.values if maxim is None or v.maxim == maxim]
        if not values:
            return None
        if self.figure == "share":
            return sum(bool(value.problem) for value in values) / len(values)
        figures = [value.figure for value in values]
        return max(figures) if self.figure == "max" else sum(figures) / len(figures)

    @property
    def flagged(self) -> tuple[Value, ...]:
        """Where something is wrong."""
        return tuple(value for value in self.values if value.problem)


# A check is written as the values that it yields, under the words for its figure.
Yields = Callable[[BuildFolder], Iterable[Value]]
Check = Callable[[BuildFolder], CheckResult]


def check(name: str, what: str, figure: Figure, allowed: str) -> Callable[[Yields], Check]:
    """Make a check of a function that yields its values.

    Examples
    --------
    >>> from felicity.build.folder import read_build
    >>> @check("questions", "mean length of a question", "mean", "any")
    ... def questions(build):
    ...     for line in build.originals:
    ...         yield at(line, float(len(line.question)))
    >>> 30 < questions(read_build("gricean-maxims")).of("quality") < 50
    True
    """

    def made(looks: Yields) -> Check:
        @wraps(looks)
        def checked(build: BuildFolder) -> CheckResult:
            values = tuple(looks(build))
            return CheckResult(name=name, what=what, figure=figure, allowed=allowed, values=values)

        return checked

    return made


def at(line: Wording, figure: float, problem: str = "") -> Value:
    """Return what was found at a line of the set."""
    return Value(
        maxim=line.maxim,
        unit=line.dialogue_id,
        wording=line.wording,
        figure=figure,
        problem=problem,
    )
