"""From inspect_ai's record of a call to our reply: raw text, what was really sent, what failed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from felicity.types import Reply, Sampling

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import ModelOutput, ModelUsage

# inspect_ai's stop reasons in our words; a provider's own word is kept where there is none.
FINISHES = {"stop": "stop", "max_tokens": "length", "content_filter": "content_filter"}
# Names under which providers take a parameter, as they stand in the request.
WIRE_NAMES = {
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP"),
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
    "seed": ("seed",),
}
# Where a request keeps what is said, which is no parameter.
CONTENTS = frozenset({"messages", "input", "contents", "system", "tools"})
DROPPABLE = ("temperature", "top_p", "seed")
# A refusal of the parameter as such; a value out of range is the user's mistake and stays an error.
REFUSAL = re.compile(
    r"unsupported|not support|deprecated|not permitted|unknown param|unrecognized"
    r"|only the default|only \S+ is allowed",
    re.IGNORECASE,
)
# How providers and servers name what a request for structured output holds.
SCHEMA = re.compile(
    r"response_?format|json_?schema|response_?schema|structured.?output|guided|output_config"
    r"|output_format|additionalProperties",
    re.IGNORECASE,
)


class LastEvent:
    """Keeps inspect_ai's record of the last attempt of one call: request and answer as sent."""

    def __init__(self) -> None:
        self._event: ModelEvent | None = None

    def on_pending(self, event: ModelEvent) -> None:
        """Take the record of an attempt that starts; inspect_ai fills it in."""
        self._event = event

    def on_complete(self, event: ModelEvent) -> None:
        """Take the record of an attempt that has ended."""
        self._event = event

    @property
    def request(self) -> Mapping[str, Any] | None:
        """What was sent, or None where the provider does not hand it over."""
        return self._event.call.request if self._event and self._event.call else None

    @property
    def response(self) -> Mapping[str, Any]:
        """What came back, or nothing."""
        call = self._event.call if self._event else None
        return call.response or {} if call else {}

    @property
    def failed(self) -> bool:
        """Whether the provider answered with an error, which inspect_ai may hand on as a text."""
        return bool(self._event and self._event.call and self._event.call.error)


def read_reply(output: ModelOutput, seen: LastEvent, wanted: Sampling, started: float) -> Reply:
    """Make our reply of inspect_ai's; an error that came as a success becomes an error again."""
    response = seen.response
    if response.get("error"):
        return failed_reply(_body_message(response), seen, wanted, started)
    if output.empty:
        return failed_reply("the reply holds no choice", seen, wanted, started)
    raw = _raw_choice(response)
    finish = FINISHES.get(output.stop_reason) or str(raw.get("finish_reason") or output.stop_reason)
    if seen.failed and finish != "content_filter":
        return failed_reply(output.completion, seen, wanted, started)
    if finish == "error":
        return failed_reply(_body_message(raw) or output.completion, seen, wanted, started)
    text, reasoning = _texts(output, raw)
    usage = output.usage
    return Reply(
        # A filter's answer to the request comes as an error: its words are not the model's.
        text="" if seen.failed else text,
        reasoning=reasoning,
        finish=finish,
        model_id=None if seen.failed else output.model or None,
        effective=_effective(seen.request, wanted),
        tokens_in=_tokens_in(usage) if usage else None,
        tokens_out=usage.output_tokens if usage else None,
        seconds=output.time or time.perf_counter() - started,
        error=output.completion if seen.failed else None,
    )


def _tokens_in(usage: ModelUsage) -> int:
    """Count all tokens in; inspect_ai keeps those from the provider's prompt cache apart."""
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


def _texts(output: ModelOutput, raw: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return text and reasoning as sent.

    inspect_ai cuts ``<think>`` out of a text; a raw reply in OpenAI's protocol still has it.
    """
    message = raw.get("message")
    if isinstance(message, Mapping):
        reasoning = message.get("reasoning_content") or message.get("reasoning")
        text = message.get("content") or message.get("refusal") or ""
        if isinstance(text, str) and (reasoning is None or isinstance(reasoning, str)):
            return text, reasoning
    content = output.message.content
    if isinstance(content, str):
        return content, None
    thoughts = [part.reasoning for part in content if part.type == "reasoning"]
    texts = [part.text for part in content if part.type == "text"]
    return "".join(texts), "\n".join(thoughts) or None


def _raw_choice(response: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice of a response in OpenAI's chat protocol, or nothing."""
    choices = response.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
        return choices[0]
    return {}


def failed_reply(reason: str, seen: LastEvent, wanted: Sampling, started: float) -> Reply:
    """Make a reply of a failure: no text, ``finish`` ``error``, and what the provider said."""
    return Reply(
        text="",
        reasoning=None,
        finish="error",
        model_id=None,
        effective=_effective(seen.request, wanted),
        tokens_in=None,
        tokens_out=None,
        seconds=time.perf_counter() - started,
        error=reason,
    )


def failure_reason(error: BaseException, response: Mapping[str, Any]) -> str:
    """Say what the provider said, without the request that inspect_ai repeats."""
    from tenacity import RetryError

    if isinstance(error, RetryError):
        error = error.last_attempt.exception() or error
    said = _body_message(response) or response.get("message")
    said = said or getattr(error, "provider_message", None)
    return str(said or f"{type(error).__name__}: {error}")


def _body_message(body: Mapping[str, Any]) -> str:
    error = body.get("error")
    if isinstance(error, Mapping):
        return str(error.get("message") or dict(error))
    return str(error) if error else ""


def _effective(request: Mapping[str, Any] | None, wanted: Sampling) -> Sampling:
    """Read the sampling parameters from the request as sent.

    inspect_ai leaves out what it knows a model to refuse. Where a provider hands over no request,
    what was wanted is all that is known.
    """
    if request is None:
        return wanted
    sent = dict(_parameters(request))
    found: dict[str, Any] = {}
    for name, wires in WIRE_NAMES.items():
        found[name] = next((sent[wire] for wire in wires if sent.get(wire) is not None), None)
    return Sampling(**found)


def _parameters(request: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in request.items():
        if isinstance(value, Mapping):
            if name not in CONTENTS:
                yield from _parameters(value)
        else:
            yield name, value


def refused_parameter(reply: Reply, wanted: Sampling) -> str | None:
    """Return the sampling parameter that the model refuses as such, or None."""
    if reply.error is None or reply.finish != "error" or not REFUSAL.search(reply.error):
        return None
    for name in DROPPABLE:
        if getattr(wanted, name) is not None and name in reply.error:
            return name
    return None


def refuses_schema(reply: Reply) -> bool:
    """Whether a model or server refuses to be held to a JSON schema."""
    return reply.finish == "error" and bool(SCHEMA.search(reply.error or ""))
