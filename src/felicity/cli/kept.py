"""The model that was opened last, for runs that use one model several times."""

from __future__ import annotations

import gc
from collections.abc import Callable

from felicity.participants import Participant


class Kept:
    """Keeps one participant; lets go of it before another is loaded."""

    def __init__(self) -> None:
        self._key: object = None
        self._participant: Participant | None = None

    def get(self, key: object, opened: Callable[[], Participant]) -> Participant:
        """Return the participant of this key: the one kept, or a new one."""
        if self._participant is None or self._key != key:
            self.let_go()
            self._participant, self._key = opened(), key
        return self._participant

    def let_go(self) -> None:
        """Keep none, so that its memory is free."""
        self._participant = None
        gc.collect()
