"""The model that was opened last, for runs that use one model several times."""

from __future__ import annotations

import gc
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from felicity.participants import Participant
from felicity.participants.opening import Opening
from felicity.running.options import RunOptions
from felicity.running.voice import note

if TYPE_CHECKING:
    from felicity.cluster import Cluster


class Kept(threading.local):
    """Opens models, here or on a cluster; keeps one, and lets go of it before another is loaded.

    Every thread has one of its own.

    Parameters
    ----------
    cluster
        Where models are opened; None is on this machine.
    """

    def __init__(self, cluster: Cluster | None = None) -> None:
        self.cluster = cluster
        self._key: object = None
        self._participant: Participant | None = None

    def get(self, spec: str, options: RunOptions) -> Participant:
        """Return the model under these options: the one kept, or newly opened."""
        key = (spec, options.opening())
        if self._participant is None or self._key != key:
            self.let_go()
            self._participant, self._key = self._open(spec, options), key
            for warning in self._participant.info.notes:
                note(f"warning: {warning}")
        return self._participant

    def get_in_float32(self, spec: str, options: RunOptions) -> Participant:
        """Return the same model in float32."""
        return self.get(spec, replace(options, dtype="float32"))

    def let_go(self) -> None:
        """Keep nothing; workers on a cluster end."""
        close: Any = getattr(self._participant, "close", None)
        self._participant = None
        if close is not None:
            close()
        gc.collect()

    def _open(self, spec: str, options: RunOptions) -> Participant:
        opening = Opening(
            spec=spec,
            method=options.method,
            prefix=options.prefix,
            device=options.device,
            device_map=options.device_map,
            dtype=options.dtype,
            trust_remote_code=options.trust_remote_code,
            batch_tokens=options.batch_tokens,
            max_connections=options.max_connections,
            threads=options.threads,
        )
        return opening.open(note) if self.cluster is None else self.cluster.open(opening, note)
