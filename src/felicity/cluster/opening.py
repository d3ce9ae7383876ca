"""What a worker says of itself when it has opened its model."""

from __future__ import annotations

from dataclasses import dataclass

from felicity.errors import FelicityError
from felicity.types import ParticipantInfo

# What two workers must agree on, with the words a user knows it by.
SAME = {
    "weights_fingerprint": "model weights",
    "tokenizer_fingerprint": "tokenizer",
    "method": "method",
    "prefix": "prefix",
    "dtype": "dtype",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A worker that has loaded its model.

    ``node`` is Ray's id of its machine, ``host`` that machine's address, ``seconds`` how long it
    took to load and check the model.
    """

    info: ParticipantInfo
    batch_tokens: int | None
    version: str
    torch: str
    node: str
    host: str
    pid: int
    threads: int
    seconds: float

    def other_than(self, first: Opened) -> list[str]:
        """Say in words where this worker would give other scores than the first."""
        found = [
            f"{word}: got {getattr(self.info, name)}; expected {getattr(first.info, name)}"
            for name, word in SAME.items()
            if getattr(self.info, name) != getattr(first.info, name)
        ]
        if self.version != first.version:
            found.append(f"Felicity: got {self.version}; expected {first.version}")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A worker's answer where a user's mistake is in the way; ``host`` says where."""

    error: FelicityError
    host: str
