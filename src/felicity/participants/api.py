"""Models behind an API, through inspect_ai's model API: none of its cache, epochs or logs."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from felicity.errors import ModelError
from felicity.participants.api_reply import (
    LastEvent,
    failed_reply,
    failure_reason,
    read_reply,
    refused_parameter,
    refuses_schema,
)
from felicity.participants.chat import ChatInfo
from felicity.types import Message, Reply, Sampling

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, Model, ResponseSchema

MAX_CONNECTIONS = 10
MAX_RETRIES = 6
ATTEMPT_SECONDS = 600


def open_api(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    max_connections: int = MAX_CONNECTIONS,
    max_retries: int = MAX_RETRIES,
    attempt_seconds: int = ATTEMPT_SECONDS,
    response_schema: Mapping[str, Any] | None = None,
) -> ApiParticipant:
    """Make a participant of a model behind an API; nothing is sent yet.

    Parameters
    ----------
    model
        ``openai/gpt-4o-mini``, ``anthropic/…``, ``google/…``, or ``openai-api/NAME/…`` for any
        server that speaks the OpenAI protocol, whose address and key are in the environment as
        ``NAME_BASE_URL`` and ``NAME_API_KEY``. A beginning ``api:`` is allowed.
    base_url, api_key
        In place of those in the environment.
    max_connections
        Requests open at once.
    max_retries
        How often a request is sent again after a rate limit, a server's fault or a lost connection,
        with growing waits.
    attempt_seconds
        When one attempt is given up.
    response_schema
        JSON schema that replies are held to. Where a model or server cannot do that, replies come
        without; whoever reads them must bear with that.

    Raises
    ------
    ModelError
        Where the provider is unknown, its package is missing, or it has no key or address.
    """
    name = model.removeprefix("api:")
    if not all(name.partition("/")[::2]):
        raise ModelError(
            f'got "{model}"; expected api:PROVIDER/MODEL',
            where="model",
            hint="for example api:openai/gpt-4o-mini, or api:openai-api/NAME/MODEL",
        )
    participant = ApiParticipant(
        name,
        base_url=base_url,
        api_key=api_key,
        max_connections=max_connections,
        max_retries=max_retries,
        attempt_seconds=attempt_seconds,
        response_schema=response_schema,
    )
    participant.connect()
    return participant


class ApiParticipant:
    """A model behind an API. Make it with `open_api`."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None,
        api_key: str | None,
        max_connections: int,
        max_retries: int,
        attempt_seconds: int,
        response_schema: Mapping[str, Any] | None = None,
    ) -> None:
        self._name = name
        self._base_url = base_url
        self._api_key = api_key
        self._max_connections = max_connections
        self._max_retries = max_retries
        self._attempt_seconds = attempt_seconds
        self._model: Model | None = None
        self._refused: set[str] = set()
        self._schema = response_schema

    @cached_property
    def info(self) -> ChatInfo:
        """Provider's model, address, limits."""
        api = self.connect().api
        asked = str(api.service_model_name())
        return ChatInfo(
            spec=f"api:{self._name}",
            label=asked.rsplit("/", 1)[-1],
            method="sampled",
            model=asked,
            details={
                "address": _bare_address(api.base_url),
                "max_retries": str(self._max_retries),
                "attempt_seconds": str(self._attempt_seconds),
            },
        )

    @property
    def max_connections(self) -> int:
        """Requests open at once."""
        return self._max_connections

    def connect(self) -> Model:
        """Return inspect_ai's model, made anew after `close`."""
        if self._model is None:
            self._model = _get_model(
                self._name,
                self._base_url,
                self._api_key,
                max_connections=self._max_connections,
                max_retries=self._max_retries,
                attempt_timeout=self._attempt_seconds,
            )
        return self._model

    async def close(self) -> None:
        """Close connections; a later `ask` opens them again."""
        if self._model is not None:
            await self._model.api.aclose()
            self._model = None

    async def ask(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        """Put one request; again without a sampling parameter that the model refuses.

        What was really sent is in the reply's ``effective``.
        """
        wanted = replace(sampling, **dict.fromkeys(self._refused))
        reply = await self._ask_once(messages, wanted)
        if self._schema is not None and refuses_schema(reply):
            self._schema = None
            reply = await self._ask_once(messages, wanted)
        refused = refused_parameter(reply, wanted)
        while refused is not None:
            self._refused.add(refused)
            wanted = replace(wanted, **{refused: None})
            reply = await self._ask_once(messages, wanted)
            refused = refused_parameter(reply, wanted)
        return reply

    async def _ask_once(self, messages: Sequence[Message], wanted: Sampling) -> Reply:
        from inspect_ai.model import GenerateConfig
        from inspect_ai.model._model import use_model_event_sink

        model, seen = self.connect(), LastEvent()
        config = GenerateConfig(
            temperature=wanted.temperature,
            top_p=wanted.top_p,
            max_tokens=wanted.max_tokens,
            seed=wanted.seed,
            # Without this inspect_ai sends a request of its own to reasoning models, which is paid
            # for, to find out whether they give summaries of their reasoning.
            reasoning_summary="none",
            response_schema=_response_schema(self._schema),
        )
        started = time.perf_counter()
        try:
            # The sink also keeps inspect_ai from collecting every call in a transcript.
            with use_model_event_sink(seen):
                output = await model.generate(_chat_messages(messages), config=config, cache=False)
        except Exception as error:  # whatever a provider's library raises is that call's failure
            return failed_reply(failure_reason(error, seen.response), seen, wanted, started)
        return read_reply(output, seen, wanted, started)


def _get_model(name: str, base_url: str | None, api_key: str | None, **limits: int) -> Model:
    try:
        from inspect_ai._util.error import PrerequisiteError
        from inspect_ai.model import GenerateConfig, get_model
    except ImportError as error:
        raise ModelError(
            f"models behind an API need inspect_ai, which is not there: {error}",
            where=f"api:{name}",
            hint='pip install "felicity[api]"',
        ) from error
    config = GenerateConfig.model_validate(limits)
    try:
        return get_model(name, config=config, base_url=base_url, api_key=api_key, memoize=False)
    except (PrerequisiteError, ValueError) as error:
        # inspect_ai writes its messages for rich: [bold]…[/bold].
        text = re.sub(r"\[/?[a-z]+\]", "", str(error)).removeprefix("ERROR: ")
        raise ModelError(
            " ".join(text.split()),
            where=f"api:{name}",
            hint="set the provider's key (and address, for openai-api/NAME) in the environment",
        ) from error


def _response_schema(schema: Mapping[str, Any] | None) -> ResponseSchema | None:
    if schema is None:
        return None
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    return ResponseSchema(
        name="reply", json_schema=JSONSchema.model_validate(dict(schema)), strict=True
    )


def _chat_messages(messages: Sequence[Message]) -> list[ChatMessage]:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds: dict[str, Any] = {
        "system": ChatMessageSystem,
        "user": ChatMessageUser,
        "assistant": ChatMessageAssistant,
    }
    return [kinds[message.role](content=message.content) for message in messages]


def _bare_address(address: str | None) -> str:
    """Return an address without user, password and query, which may be secret."""
    if not address:
        return "the provider's own"
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
