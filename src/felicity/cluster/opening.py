"""How a worker opens a model, and what it says of itself then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from felicity.errors import FelicityError
from felicity.participants.spec import parse_spec
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
class Opening:
    """The options of `open_participant`, to be used elsewhere.

    ``threads`` are processor threads of a worker; None is one for each CPU that it has been given.
    ``local`` is the file or folder that must be there on every machine; None for a model by name.
    """

    spec: str
    method: str | None = None
    prefix: str = "auto"
    device: str = "auto"
    device_map: str | None = None
    dtype: str = "float32"
    trust_remote_code: bool = False
    batch_tokens: int | None = None
    threads: int | None = None
    local: str | None = None

    def elsewhere(self) -> Opening:
        """Return the same with a local folder's whole path, since workers run in other folders."""
        parsed = parse_spec(self.spec)
        if parsed.kind != "hf" or not Path(parsed.source).exists():
            return self
        place = Path(parsed.source).resolve()
        place = place / parsed.gguf if parsed.gguf else place
        return replace(self, spec=f"hf:{place}", local=str(place))


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
