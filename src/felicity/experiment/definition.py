"""What an experiment file says, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How models are asked; None where nothing is said. The keys are in `keys.SETTINGS`."""

    methods: tuple[str, ...] | None = None
    formats: tuple[str, ...] | None = None
    promptings: tuple[str, ...] | None = None
    repeats: int | None = None
    presentation: str | None = None
    order: str | None = None
    where: Mapping[str, str] | None = None
    limit: int | None = None
    prefix: str | None = None
    dtype: str | None = None
    dtype_sample: int | None = None
    device: str | None = None
    device_map: str | None = None
    threads: int | None = None
    batch_tokens: int | None = None
    trust_remote_code: bool | None = None
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_connections: int | None = None
    smoke: int | None = None
    price_in: float | None = None
    price_out: float | None = None
    max_cost: float | None = None

    def under(self, nearer: Settings) -> Settings:
        """Return these settings with what ``nearer`` says in their place.

        Examples
        --------
        >>> Settings(limit=3, seed=1).under(Settings(limit=5)).limit
        5
        """
        said = {f.name: getattr(nearer, f.name) for f in fields(nearer)}
        return replace(self, **{name: value for name, value in said.items() if value is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One model, or one checkpoint of a series.

    Attributes
    ----------
    spec
        The model's name, with its revision; local folders are absolute.
    label
        What it is called in tables; None where its own name is.
    folder
        The first part of its run folder's name.
    series
        What the checkpoints of one model are called together; None where it is no checkpoint.
    checkpoint, words
        Which one, and the words it has seen; None where nothing says how many.
    line
        Where it stands in the file.
    """

    spec: str
    label: str | None
    folder: str
    series: str | None
    checkpoint: str | None
    words: int | None
    settings: Settings
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Models that are reported together. ``studies`` is None where they take part in all."""

    name: str
    title: str
    studies: tuple[str, ...] | None
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """What is reported, and where to; None is "by default"."""

    out: Path
    score: str | None = None
    unit: str | None = None
    weighting: str | None = None
    as_published: bool | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """An experiment file. ``studies`` are built-in names or absolute folders, as text."""

    file: Path
    name: str
    title: str
    studies: tuple[str, ...]
    out: Path
    groups: tuple[Group, ...]
    report: ReportSettings
