"""Errors that a user can act on: what, where, what was got, what is allowed, and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class FelicityError(Exception):
    """Base of every error that is the caller's to mend.

    Parameters
    ----------
    message
        What is wrong, with what was got and what is allowed.
    where
        The file, item or option in question.
    hint
        What to do about it.

    Examples
    --------
    >>> print(FelicityError("no such study", where="gricean", hint="see `felicity studies`"))
    gricean: no such study
      hint: see `felicity studies`
    """

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}\n  hint: {self.hint}" if self.hint else text


class ModelError(FelicityError):
    """A model that cannot be opened, or cannot be used in the way that was asked."""


class RunError(FelicityError):
    """A run that cannot start, go on, or be read."""


class OptionError(FelicityError):
    """An option whose value is not allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with one field of one file.

    Examples
    --------
    >>> print(Fault(file="items.jsonl", line=41, field="maxim", got="Manner",
    ...             allowed="one of relation, quality"))
    items.jsonl line 41, maxim: got "Manner"; expected one of relation, quality
    """

    file: str
    field: str
    got: str
    allowed: str
    line: int | None = None

    def __str__(self) -> str:
        line = f" line {self.line}" if self.line is not None else ""
        return f'{self.file}{line}, {self.field}: got "{self.got}"; expected {self.allowed}'


class FaultsError(FelicityError):
    """All the faults of a file or a study at once, never only the first."""

    def __init__(
        self, faults: Sequence[Fault], *, where: str | None = None, hint: str | None = None
    ) -> None:
        self.faults = tuple(faults)
        count = f"{len(self.faults)} fault{'s' if len(self.faults) != 1 else ''}"
        listed = "".join(f"\n  {fault}" for fault in self.faults)
        super().__init__(count + listed, where=where, hint=hint)


def one_of(values: Iterable[str]) -> str:
    """Say which values are allowed.

    Examples
    --------
    >>> one_of(["a", "b"])
    'one of a, b'
    """
    return "one of " + ", ".join(values)
