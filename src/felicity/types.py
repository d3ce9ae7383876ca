"""The values that flow through Felicity. All frozen; none touches disk, network or torch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Method = Literal["logprob", "pll_within_word_l2r", "pll_original", "seq2seq"]
METHODS: tuple[Method, ...] = ("logprob", "pll_within_word_l2r", "pll_original", "seq2seq")

# How a rating is had from a model.
RATING_METHODS = ("sampled", "expected")

Status = Literal["ok", "not_finite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One stimulus with its factor levels.

    Attributes
    ----------
    item_id
        Unique in the study and stable between versions of the data.
    unit
        What repeats across items (a dialogue under its wordings and names). Intervals resample it.
    question
        The text before the answer.
    answers
        Label to text, in the study's order; the first label is the answer that should win.
    factors
        Every other column of the item (maxim, wording, questioner, …), as text.
    """

    item_id: str
    unit: str
    question: str
    answers: Mapping[str, str]
    factors: Mapping[str, str]

    def columns(self) -> dict[str, str]:
        """Return the item as one flat row."""
        return {
            "item_id": self.item_id,
            **self.factors,
            "question": self.question,
            **self.answers,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPair:
    """A context and the answer that is scored given it. The model reads ``context + answer``."""

    context: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One answer of one item, as text for one participant.

    ``pair`` is the answer in its dialogue; ``baseline`` the same answer without the question,
    for pointwise mutual information.
    """

    trial_id: str
    item_id: str
    answer_label: str
    answer_text: str
    pair: TextPair
    baseline: TextPair


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenScores:
    """The natural-log probability of every token of an answer.

    Attributes
    ----------
    token_ids, tokens, log_probs
        One entry per answer token, in order; ``log_probs`` are ≤ 0, in nats. ``token_ids`` is
        empty where a server does not give them.
    straddles
        True where the first token also holds characters of the context.

    Examples
    --------
    >>> scores = TokenScores(token_ids=(3, 4), tokens=(" a", "b"), log_probs=(-1.0, -3.0))
    >>> scores.log_prob_sum, scores.log_prob_mean
    (-4.0, -2.0)
    >>> round(scores.bits_per_character(3), 3)
    1.924
    """

    token_ids: tuple[int, ...]
    tokens: tuple[str, ...]
    log_probs: tuple[float, ...]
    straddles: bool = False

    @property
    def log_prob_sum(self) -> float:
        """Sum over the answer's tokens, in nats."""
        return math.fsum(self.log_probs)

    @property
    def log_prob_mean(self) -> float:
        """Mean over the answer's tokens, in nats: the papers' length-normalised score."""
        return self.log_prob_sum / len(self.log_probs)

    def bits_per_character(self, n_characters: int) -> float:
        """Surprisal in bits per character of the answer; lower is more probable."""
        return -self.log_prob_sum / math.log(2) / n_characters

    @property
    def status(self) -> Status:
        """``ok``, or ``not_finite`` where a token has no finite log-probability."""
        return "ok" if all(map(math.isfinite, self.log_probs)) else "not_finite"


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What came back for one trial: raw, with a status, never dropped."""

    trial_id: str
    key: str
    status: Status
    scores: TokenScores
    baseline: TokenScores | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantInfo:
    """Everything about a participant that can change its answers, and how it is called.

    ``opened_with`` holds the options as given (method, prefix, dtype), before any was resolved.
    What a server does not say of its model is None or ``unknown``.
    """

    spec: str
    label: str
    method: Method
    architecture: str
    parameters: int | None
    vocabulary: int | None
    max_tokens: int | None
    dtype: str
    device: str
    prefix: str
    weights_fingerprint: str
    tokenizer_fingerprint: str
    revision: str | None = None
    instruct: bool = False
    notes: tuple[str, ...] = ()
    opened_with: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A rating scale of whole numbers with labelled ends.

    Examples
    --------
    >>> scale = Scale(low=1, high=7, low_label="not at all", high_label="very")
    >>> 7 in scale, 8 in scale, len(scale.values)
    (True, False, 7)
    """

    low: int
    high: int
    low_label: str = ""
    high_label: str = ""

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high

    @property
    def values(self) -> range:
        """All values of the scale."""
        return range(self.low, self.high + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Two answers as they are shown, of which one is to be named: a scale with labels for values.

    Attributes
    ----------
    labels
        What the answers are called, in the order shown; a reply is to be one of them.
    answers
        Their texts, in the same order.
    words
        Words that name what is looked for ("silly"), by which a sentence of a reply is understood.

    Examples
    --------
    >>> shown = Choice(labels=("A", "B"), answers=("At noon.", "At some time."), words=("vague",))
    >>> shown.labels[shown.answers.index("At some time.")]
    'B'
    """

    labels: tuple[str, str]
    answers: tuple[str, str]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question of a conversation: one trial. ``text`` is what the user says."""

    trial_id: str
    item_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Questions put one after the other to one participant, each after its earlier replies.

    A single question is a conversation of one turn. ``repeat`` counts from 0 and is part of
    every trial id. ``scale`` is what the replies are read on.
    """

    conversation_id: str
    prompting: str
    repeat: int
    system: str | None
    turns: tuple[Turn, ...]
    scale: Scale | Choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation as sent."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Sampling parameters as asked for; None leaves one to the provider."""

    temperature: float | None = 1.0
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back for one request, raw.

    Attributes
    ----------
    text
        The reply as sent by the model, without reasoning that came in a field of its own.
    reasoning
        That reasoning, or None.
    finish
        ``stop``, ``length``, ``content_filter``, ``error`` or the provider's own word.
    model_id
        The model that the provider says has answered; None where it says nothing.
    effective
        Sampling parameters that were really sent.
    error
        The provider's message where there is no reply.
    """

    text: str
    reasoning: str | None
    finish: str
    model_id: str | None
    effective: Sampling
    tokens_in: int | None
    tokens_out: int | None
    seconds: float
    error: str | None = None
