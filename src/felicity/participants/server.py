"""A model too big to load: scored through the server that has it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

from felicity.errors import Fault, FaultsError, ModelError, OptionError, one_of
from felicity.participants.base import Plan
from felicity.participants.server_echo import open_echo
from felicity.participants.server_http import (
    ATTEMPT_SECONDS,
    FIRST_WAIT,
    MAX_RETRIES,
    RefusedError,
    ServerConnection,
)
from felicity.participants.server_llamacpp import open_llamacpp
from felicity.participants.spec import ModelSpec, parse_spec
from felicity.scoring.encode import Encoded
from felicity.scoring.prefix import Prefix
from felicity.types import ParticipantInfo, TextPair, TokenScores

MAX_CONNECTIONS = 4
# Texts that are kept together in the journal, for each connection.
TEXTS_EACH = 4
# Scores of one text may differ by so much without a word, and by so much at all, in nats.
EXACT = 1e-4
ROUNDED = 0.25
# Two that begin alike, and one whose characters are split by most tokenizers.
PROBES = (
    TextPair(context="Where is the old dog of your aunt?", answer=" It is in the garden."),
    TextPair(context="Where is the old dog of your aunt?", answer=" It has run away, I fear."),
    TextPair(context="Was it dear?", answer=" The naïve café asked 5 € for a 🍵…"),
)


class Wire(Protocol):
    """How a server is asked for the log-probabilities of a text."""

    @property
    def prefix(self) -> Prefix:
        """What stands before a text."""
        ...

    @property
    def slots(self) -> int | None:
        """How many requests the server works on at once; None where it does not matter."""
        ...

    def split(self, text: str) -> list[str]:
        """Return a text's tokens as the server writes them."""
        ...

    def score(self, pair: TextPair) -> tuple[Encoded, TokenScores]:
        """Score an answer in its context."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPlan(Plan):
    """Texts cut into batches. Only the server can encode them, so ``encoded`` is empty."""

    pairs: tuple[TextPair, ...]
    names: tuple[str, ...]

    def tokens_held(self, batch: Sequence[int]) -> int:  # noqa: ARG002 - as of any plan
        """Return 0: the memory is the server's."""
        return 0


@dataclass(frozen=True, kw_only=True)
class ServerParticipant:
    """A model behind a server, under ``logprob``. Make it with `open_server`."""

    wire: Wire
    connection: ServerConnection
    info: ParticipantInfo
    connections: int

    def plan(self, pairs: Sequence[TextPair], names: Sequence[str] | None = None) -> ServerPlan:
        """Cut into batches, in the order given.

        Raises
        ------
        FaultsError
            With every answer whose first token would have nothing before it.
        """
        told = tuple(names) if names else tuple(repr(p.context + p.answer)[:60] for p in pairs)
        if not self.wire.prefix.ids:
            faults = [
                _nothing_before(name) for name, p in zip(told, pairs, strict=True) if not p.context
            ]
            if faults:
                raise FaultsError(faults, where="encoding", hint="nothing was scored")
        size = self.connections * TEXTS_EACH
        whole = range(len(pairs))
        batches = tuple(tuple(whole[at : at + size]) for at in range(0, len(pairs), size))
        return ServerPlan(encoded=(), batches=batches, pairs=tuple(pairs), names=told)

    def score(self, plan: Plan, batch: Sequence[int]) -> list[TokenScores]:
        """Score one batch, several texts at once.

        Raises
        ------
        FaultsError
            With every text of the batch that the server will not take.
        ModelError
            Where it does not answer, or not in a way that can be believed.
        """
        if not isinstance(plan, ServerPlan):
            raise TypeError("a plan of another participant")
        found = self._score_all([plan.pairs[i] for i in batch])
        faults: list[Fault] = []
        scores: list[TokenScores] = []
        for i, one in zip(batch, found, strict=True):
            if isinstance(one, RefusedError):
                faults.append(
                    Fault(
                        file=plan.names[i],
                        field=f"text of {len(plan.pairs[i].context + plan.pairs[i].answer)} "
                        "characters",
                        got=one.message,
                        allowed="a text that the server takes",
                    )
                )
                continue
            encoded, tokens = one
            if encoded.start == encoded.stop:
                faults.append(_no_token(plan.names[i]))
            elif encoded.start == 0:
                faults.append(_nothing_before(plan.names[i]))
            scores.append(tokens)
        if faults:
            raise FaultsError(faults, where=self.connection.address)
        return scores

    def _score_all(
        self, pairs: Sequence[TextPair]
    ) -> list[tuple[Encoded, TokenScores] | RefusedError]:
        def score(pair: TextPair) -> tuple[Encoded, TokenScores] | RefusedError:
            try:
                return self.wire.score(pair)
            except RefusedError as error:
                return error

        pool = ThreadPoolExecutor(self.connections)
        try:
            return list(pool.map(score, pairs))
        except KeyboardInterrupt:
            self.connection.stop()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def checked(self) -> ServerParticipant:
        """Score the same texts alone and among others, in two orders; believe what agrees."""
        alone = [self._probe(pair) for pair in PROBES]
        again = [self._probe(pair) for pair in reversed(PROBES)][::-1]
        together = [one for one in self._score_all(PROBES) if not isinstance(one, RefusedError)]
        if any(scores.status != "ok" for scores in alone):
            raise ModelError("log-probabilities are not finite", where=self.connection.address)
        if all(value == 0 for scores in alone for value in scores.log_probs):
            raise ModelError(
                "every token has the log-probability 0; expected some that are not certain",
                where=self.connection.address,
                hint="a server that cannot score prompts may say 0 of all their tokens",
            )
        others = [*again, *(scores for _, scores in together)]
        worst = max(
            abs(a - b)
            for one, other in zip([*alone, *alone], others, strict=True)
            for a, b in zip(one.log_probs, other.log_probs, strict=True)
        )
        if not worst <= ROUNDED:
            raise ModelError(
                f"one text has other scores after another text or beside it: {worst:.3g} nats",
                where=self.connection.address,
                hint="switch the server's prefix cache off (vLLM: --no-enable-prefix-caching), or "
                "ask for less at once with --max-connections 1",
            )
        if worst <= EXACT:
            return self
        told = f"scores of one text differ by up to {worst:.2g} nats with what is asked beside it"
        return replace(self, info=replace(self.info, notes=(*self.info.notes, told)))

    def _probe(self, pair: TextPair) -> TokenScores:
        try:
            return self.wire.score(pair)[1]
        except RefusedError as error:
            raise _refused(self.connection, error) from error


def open_server(
    spec: str,
    *,
    method: str | None = None,
    prefix: str = "auto",
    dtype: str | None = None,
    max_connections: int | None = None,
    max_retries: int = MAX_RETRIES,
    attempt_seconds: float = ATTEMPT_SECONDS,
    first_wait: float = FIRST_WAIT,
    opened_with: Mapping[str, str] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> ServerParticipant:
    """Open a model behind a server that gives log-probabilities, and check that they hold.

    Parameters
    ----------
    spec
        ``server:http://HOST:PORT/v1#MODEL``; without ``#MODEL`` the only one that is served. A key
        is read from the environment, ``FELICITY_SERVER_KEY``.
    method
        ``logprob``, which is also the default.
    prefix
        ``auto`` or ``none``; for llama.cpp's server also ``bos``, ``eos`` or a token id.
    dtype
        None; the server decides.
    max_connections
        Requests open at once, 4 where not given; with llama.cpp at most its slots.
    max_retries, attempt_seconds, first_wait
        How often a request is sent again, when an attempt is given up, the first pause.
    opened_with
        The options as given, which are kept with a run.
    report
        Called with a line for each step that takes a while.

    Raises
    ------
    ModelError, OptionError
        Where it cannot be reached, has no such model, or its scores cannot be believed.
    """
    if method not in (None, "logprob"):
        raise OptionError(
            f'got "{method}"; expected logprob, of a model behind a server', where="--method"
        )
    if dtype is not None:
        raise OptionError(
            f'got "{dtype}"; expected nothing, of a model behind a server', where="--dtype"
        )
    named = parse_spec(spec)
    connections = max_connections or MAX_CONNECTIONS
    connection = ServerConnection(
        named.source,
        max_connections=connections,
        max_retries=max_retries,
        attempt_seconds=attempt_seconds,
        first_wait=first_wait,
    )
    report(f"asking {connection.address}")
    try:
        entry = _find_model(connection, named)
        wire = _open_wire(connection, entry, prefix, connections)
        pieces = [wire.split(pair.context + pair.answer) for pair in PROBES]
    except RefusedError as error:
        raise _refused(connection, error) from error
    info = _info(named, connection, entry, wire, pieces, opened_with or {})
    return ServerParticipant(
        wire=wire,
        connection=connection,
        info=info,
        connections=min(connections, wire.slots or connections),
    ).checked()


def _find_model(connection: ServerConnection, named: ModelSpec) -> Mapping[str, Any]:
    """Return what the server says of the model that was named, or of its only one."""
    try:
        listed = connection.get("/models").get("data")
    except RefusedError as error:
        if error.status != 404 or named.model is None:
            raise
        return {"id": named.model}
    entries = {str(e["id"]): e for e in listed or () if isinstance(e, Mapping) and "id" in e}
    if named.model is None and len(entries) == 1:
        return next(iter(entries.values()))
    if named.model not in entries:
        got = f'got "{named.model}"' if named.model else "no model is named"
        raise ModelError(
            f"{got}; expected {one_of(entries) if entries else 'a model, and it serves none'}",
            where=connection.address,
            hint=f"server:{connection.address}#MODEL",
        )
    return entries[named.model]


def _open_wire(
    connection: ServerConnection, entry: Mapping[str, Any], prefix: str, connections: int
) -> Wire:
    if entry.get("owned_by") == "llamacpp":
        wire = open_llamacpp(connection, prefix=prefix, most=connections)
        wire.check(PROBES[0].context)
        return wire
    if prefix not in ("auto", "none"):
        raise OptionError(
            f'got "{prefix}"; expected auto or none, of a model behind a server',
            where="--prefix",
            hint="the server's tokenizer decides what stands before a text",
        )
    probe = PROBES[0].context + PROBES[0].answer
    vllm = entry.get("owned_by") == "vllm"
    return open_echo(connection, str(entry["id"]), vllm=vllm, prefix=prefix, probe=probe)


def _info(
    named: ModelSpec,
    connection: ServerConnection,
    entry: Mapping[str, Any],
    wire: Wire,
    pieces: Sequence[Sequence[str]],
    opened_with: Mapping[str, str],
) -> ParticipantInfo:
    """Put down what the server says of its model; what it does not say is unknown."""
    meta = entry.get("meta") if isinstance(entry.get("meta"), Mapping) else {}
    assert isinstance(meta, Mapping)
    # The time and the rights that it names change with every question.
    told = {key: entry[key] for key in sorted(entry) if key not in ("created", "permission")}
    limit = entry.get("max_model_len") or meta.get("n_ctx")
    return ParticipantInfo(
        spec=named.text,
        label=str(named.model or entry["id"]).rsplit("/", 1)[-1],
        method="logprob",
        architecture="unknown",
        parameters=meta.get("n_params"),
        vocabulary=meta.get("n_vocab"),
        max_tokens=limit if isinstance(limit, int) else None,
        dtype=str(meta.get("ftype") or "unknown"),
        device=f"server {connection.address}",
        prefix=_show_prefix(wire.prefix),
        weights_fingerprint=f"name only: {_hash(told)}",
        tokenizer_fingerprint=f"probes only: {_hash(pieces)}",
        revision=None,
        notes=(
            f"the weights behind {connection.address} are known only by what it says of them: "
            + json.dumps({k: v for k, v in told.items() if isinstance(v, str | int)}),
        ),
        opened_with=opened_with,
    )


def _show_prefix(prefix: Prefix) -> str:
    if min(prefix.ids, default=0) < 0:
        return f"{prefix.policy} {' '.join(prefix.tokens)}"
    return str(prefix)


def _hash(value: Any) -> str:
    plain = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _refused(connection: ServerConnection, error: RefusedError) -> ModelError:
    hint = "is the address right, up to and with /v1, and the model's name?"
    if error.status in (401, 403):
        hint = "put the server's key in the environment, as FELICITY_SERVER_KEY"
    return ModelError(
        f"refused ({error.status}): {error.message}", where=connection.address, hint=hint
    )


def _nothing_before(name: str) -> Fault:
    return Fault(
        file=name,
        field="answer",
        got="a first token with nothing before it",
        allowed="a context: this server puts nothing before a text",
    )


def _no_token(name: str) -> Fault:
    return Fault(
        file=name,
        field="answer",
        got="no token of its own",
        allowed="an answer of at least one token",
    )
