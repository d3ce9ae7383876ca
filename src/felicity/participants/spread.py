"""A model spread over several devices, main memory and disk, by accelerate."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from felicity.errors import OptionError, one_of

MAPS = ("auto", "balanced", "balanced_low_0", "sequential")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How a model is spread.

    Attributes
    ----------
    device_map
        One of accelerate's: ``auto``, ``balanced``, ``balanced_low_0``, ``sequential``.
    max_memory
        At most so much on each device: ``{0: "20GiB", "cpu": "60GiB"}``; what fits nowhere goes to
        disk. None leaves it to accelerate.
    """

    device_map: str | None
    max_memory: Mapping[int | str, str | int] | None = None

    def options(self, device: str) -> dict[str, Any]:
        """Return what `from_pretrained` is to be told.

        Raises
        ------
        OptionError
            For an unknown map, or a single device beside it.

        Examples
        --------
        >>> spread = Spread(device_map="sequential", max_memory={"cpu": "1GiB"})
        >>> spread.options("auto")["max_memory"]
        {'cpu': '1GiB'}
        """
        if self.device_map not in MAPS:
            raise OptionError(
                f'got "{self.device_map}"; expected {one_of(MAPS)}', where="--device-map"
            )
        if device != "auto":
            raise OptionError(
                f'got "{device}"; expected auto beside --device-map {self.device_map}',
                where="--device",
                hint="one device, or a model spread over all; CUDA_VISIBLE_DEVICES chooses which",
            )
        # The folder holds what fits nowhere else, for as long as this process lives.
        told: dict[str, Any] = {"device_map": self.device_map, "offload_folder": _scratch_folder()}
        if self.max_memory is not None:
            told["max_memory"] = dict(self.max_memory)
        return told


def _scratch_folder() -> str:
    folder = tempfile.TemporaryDirectory(prefix="felicity-offload-")
    _SCRATCH.append(folder)
    return folder.name


_SCRATCH: list[tempfile.TemporaryDirectory[str]] = []
