"""Where a run is computed, and what each worker takes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from felicity.errors import OptionError

ADDRESS = re.compile(r"auto|[^\s/]+:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRay:
    """A Ray cluster and a worker's share of it.

    Attributes
    ----------
    address
        ``HOST:PORT``, or ``auto`` for the cluster that this machine is part of. None starts Ray
        on this machine alone, unless RAY_ADDRESS names a cluster.
    gpus, cpus
        Of each worker. Several workers share a GPU where ``gpus`` is below 1.
    workers
        At most so many at once; None is as many as there is room for.
    """

    address: str | None = None
    gpus: float = 0.0
    cpus: float = 1.0
    workers: int | None = None

    @property
    def resources(self) -> dict[str, float]:
        """What one worker takes, in Ray's words.

        Examples
        --------
        >>> OnRay(gpus=0.5).resources
        {'CPU': 1.0, 'GPU': 0.5}
        """
        wanted = {"CPU": self.cpus, "GPU": self.gpus}
        return {name: amount for name, amount in wanted.items() if amount}


def parse_on(
    text: str, *, gpus: float = 0.0, cpus: float = 1.0, workers: int | None = None
) -> OnRay:
    """Parse ``ray`` or ``ray:ADDRESS``.

    Raises
    ------
    OptionError
        For anything else, and for shares that Ray cannot give.

    Examples
    --------
    >>> parse_on("ray:10.0.0.1:6379").address
    '10.0.0.1:6379'
    """
    kind, colon, address = text.partition(":")
    if kind != "ray" or (colon and not ADDRESS.fullmatch(address)):
        raise OptionError(
            f'got "{text}"; expected ray, ray:auto or ray:HOST:PORT',
            where="--on",
            hint="run Felicity on a machine of the cluster; Ray's client (ray://) is not used",
        )
    for option, value in (("--gpus-per-task", gpus), ("--cpus-per-task", cpus)):
        if value < 0 or (value > 1 and value != int(value)):
            raise OptionError(
                f"got {value:g}; expected a whole number, or a part of one below 1", where=option
            )
    if not gpus and not cpus:
        raise OptionError("got 0; expected more, where no GPU is taken", where="--cpus-per-task")
    return OnRay(address=address or None, gpus=gpus, cpus=cpus, workers=workers)
