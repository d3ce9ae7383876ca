"""What runs on the machines of a cluster: one process with one model."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from felicity.cluster.opening import Opened, Refused
from felicity.errors import FelicityError, ModelError, OptionError, RunError
from felicity.participants.base import Participant, Plan
from felicity.participants.memory import Halving, Scored
from felicity.participants.opening import Opening
from felicity.types import TextPair


class Worker:
    """Loads its model once, then scores the batches that it is given. Made a Ray actor.

    Errors that a user can mend are returned, not raised: Ray would wrap them in its own.

    Parameters
    ----------
    opening
        Which model, and how.
    cpus, gpus
        What Ray has set aside for this worker.
    """

    def __init__(self, opening: Opening, cpus: float, gpus: float) -> None:
        self._opening = opening
        self._cpus = cpus
        self._gpus = gpus
        self._participant: Participant | None = None
        self._halving: Halving | None = None

    def open(self) -> Opened | Refused:
        """Load the model and check it."""
        import ray
        import torch

        import felicity

        opening, began = self._opening, time.monotonic()
        context = ray.get_runtime_context()
        host = _host()
        torch.set_num_threads(opening.threads or max(1, int(self._cpus)))
        try:
            self._check_local()
            participant = replace(opening, device=self._device()).open()
        except FelicityError as error:
            return Refused(error=error, host=host)
        except Exception as error:  # a library's own; here it is known on which machine
            return Refused(error=failure(error, opening.spec), host=host)
        self._participant = participant
        self._halving = Halving(participant)
        return Opened(
            info=participant.info,
            batch_tokens=getattr(participant, "batch_tokens", None),
            version=felicity.__version__,
            torch=str(torch.__version__),
            node=str(context.get_node_id()),
            host=host,
            pid=os.getpid(),
            threads=torch.get_num_threads(),
            seconds=round(time.monotonic() - began, 3),
        )

    def _check_local(self) -> None:
        """Refuse a local model that is not on this machine, in words that say so."""
        local = self._opening.local
        if local is not None and not Path(local).exists():
            raise ModelError(
                "there is nothing at this path on the worker's machine",
                where=local,
                hint="a local model must lie at the same path on every machine: on a shared disk, "
                "or copied there; a hub id is fetched by each machine itself",
            )

    def _device(self) -> str:
        """Take a GPU only where Ray has set one aside: others may be somebody else's."""
        device = self._opening.device
        if device == "auto":
            return "auto" if self._gpus else "cpu"
        if device.startswith("cuda") and not self._gpus:
            raise OptionError(
                f"got {device}, and no GPU for a worker",
                where="--device",
                hint="say how many with --gpus-per-task",
            )
        return device

    def plan(self, pairs: Sequence[TextPair], names: Sequence[str] | None) -> Plan | Refused:
        """Encode texts and cut them into batches."""
        try:
            return self._open_participant().plan(pairs, names)
        except FelicityError as error:
            return Refused(error=error, host=_host())

    def score(self, shard: Plan) -> list[Scored]:
        """Score the batches of a plan; where one does not fit into memory, in pieces."""
        self._open_participant()
        assert self._halving is not None
        return [scored for batch in shard.batches for scored in self._halving.score(shard, batch)]

    def _open_participant(self) -> Participant:
        if self._participant is None:
            raise RuntimeError("a worker is opened before it is asked")
        return self._participant


def failure(error: BaseException, spec: str) -> RunError:
    """Say in a line what a library has raised within a worker."""
    return RunError(f"{type(error).__name__}: {str(error).strip()[:400]}", where=spec)


def _host() -> str:
    """Return this machine's address as the cluster knows it."""
    import ray

    util: Any = ray.util
    return str(util.get_node_ip_address())
