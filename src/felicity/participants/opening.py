"""Models and how they are opened, as values, whichever kind of participant they become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from felicity.errors import OptionError
from felicity.participants import open_participant
from felicity.participants.spec import parse_spec
from felicity.types import Scale

if TYPE_CHECKING:
    from felicity.participants.base import Participant
    from felicity.participants.chat import ChatParticipant


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A model and how it is opened, as a value: to be opened here, later or elsewhere.

    The fields are options of `open_participant`. ``threads`` are processor threads of a worker on a
    cluster; None is one for each CPU that it has been given.
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
    max_connections: int | None = None
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

    def open(self, report: Callable[[str], None] = lambda _: None) -> Participant:
        """Open the model on this machine; raises as `open_participant` does."""
        return open_participant(
            self.spec,
            method=self.method,
            prefix=self.prefix,
            device=self.device,
            device_map=self.device_map,
            dtype=self.dtype,
            trust_remote_code=self.trust_remote_code,
            batch_tokens=self.batch_tokens,
            max_connections=self.max_connections,
            report=report,
        )


def open_chat(
    spec: str,
    *,
    method: str,
    scale: Scale | None = None,
    device: str = "auto",
    dtype: str = "float32",
    trust_remote_code: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> ChatParticipant:
    """Open a model that replies in words: behind an API, or on this machine.

    Raises
    ------
    OptionError
        For a method that an API has not.
    ModelError
        Where the model cannot be opened.
    """
    if parse_spec(spec).kind == "api":
        if method != "sampled":
            raise OptionError(
                f'got "{method}" for {spec}; expected sampled',
                where="--method",
                hint="expected needs the model itself: embedded:… or hf:…",
            )
        from felicity.participants.api import open_api

        return open_api(spec)
    from felicity.participants.local_chat import open_local_chat

    return open_local_chat(
        spec,
        method=method,
        scale=scale,
        device=device,
        dtype=dtype,
        trust_remote_code=trust_remote_code,
        report=report,
    )
