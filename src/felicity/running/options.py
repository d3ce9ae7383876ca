"""What a run is told, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from felicity.errors import OptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What `felicity run` was told, but for the study and the models; None is "by default"."""

    out: Path
    folder: Path | None
    method: str | None
    where: Mapping[str, str]
    limit: int | None
    device: str
    device_map: str | None
    dtype: str
    dtype_sample: int
    threads: int | None
    trust_remote_code: bool
    format: str | None
    prefix: str
    batch_tokens: int | None
    promptings: tuple[str, ...] | None
    repeats: int | None
    presentation: str | None
    order: str
    seed: int
    temperature: float | None
    max_tokens: int | None
    max_connections: int | None
    smoke: int
    price_in: float | None
    price_out: float | None
    max_cost: float | None
    dry_run: bool

    def refuse(self, paradigm: str, given: Mapping[str, object]) -> None:
        """Refuse options that mean nothing here rather than leave them unheeded.

        Raises
        ------
        OptionError
            Naming the first of ``given`` (option to value) that was set.
        """
        for option, value in given.items():
            if value not in (None, False):
                raise OptionError(
                    f"got {value}; expected nothing, in a {paradigm} study", where=option
                )

    def opening(self) -> RunOptions:
        """Return what is left where only the opening of a model counts."""
        return replace(self, out=Path(), folder=None, where={}, limit=None, format=None)

    def place(self, study: str, *parts: str) -> Path:
        """Return the run folder: as told, or OUT/STUDY/PARTS joined."""
        return self.folder or self.out / study / "-".join(parts)
