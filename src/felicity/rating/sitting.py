"""One sitting of a rating run: conversations put to a participant, many at once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Literal

from felicity.errors import RunError
from felicity.participants.chat import ChatParticipant
from felicity.rating.cost import Budget, guess_tokens
from felicity.rating.journal import ReplyJournal
from felicity.rating.records import Attempt, Known, reply_key
from felicity.rating.writer import Writer
from felicity.types import Conversation, Message, Reply, Sampling, Turn

Progress = Callable[[int, int], None]
Stopped = Literal["max_cost", "errors", "interrupted", "failed"]
# Failures one after the other, without a reply between, after which asking on is pointless.
ERRORS_IN_A_ROW = 25


class Sitting:
    """Puts conversations to a participant and every reply into the journal.

    What is answered already is not asked again: its text stands in the conversation. What fails is
    not asked again in the same sitting. ``stopped`` says why the sitting ended early, where it did.
    """

    def __init__(
        self,
        participant: ChatParticipant,
        journal: ReplyJournal,
        *,
        sampling: Sampling,
        budget: Budget,
        total: int,
        progress: Progress,
    ) -> None:
        self._participant = participant
        self._info = participant.info
        self._journal = journal
        self._writer = Writer(journal)
        self._open = 0
        self._sampling = sampling
        self._budget = budget
        for tokens_in, tokens_out in journal.usages():
            budget.spend(0, tokens_in, tokens_out)
        self._total = total
        self._progress = progress
        self._done = 0
        self._errors_in_a_row = 0
        self._failed: set[str] = set()
        self.known = journal.known()
        self.stopped: Stopped | None = None

    def check(self, conversations: Sequence[Conversation]) -> None:
        """Count the trials that are answered already, as progress.

        Raises
        ------
        RunError
            Where one was answered under another model, text or sampling.
        """
        for conversation in conversations:
            for turn, messages in _requests(conversation, self.known):
                known = self.known.get(turn.trial_id)
                if known is None:
                    break
                self._done += 1
                if known.key != self._key(conversation, turn, messages, known.effective):
                    raise RunError(
                        f"trial {turn.trial_id} was answered under another model, text or setting",
                        where=str(self._journal.path),
                        hint="choose another folder with --out",
                    )
        self._progress(self._done, self._total)

    async def put(
        self, conversations: Sequence[Conversation], *, turns: int | None, width: int
    ) -> None:
        """Put the first ``turns`` of each conversation (None: all), ``width`` of them at once.

        Interrupted, it starts nothing more but lets come in what is under way, for that is paid
        for; interrupted again, it ends at once.
        """
        waiting = iter(conversations)

        async def work() -> None:
            for conversation in waiting:
                await self._converse(conversation, turns)

        workers = [asyncio.create_task(work()) for _ in range(min(width, len(conversations)))]
        if not workers:
            return
        try:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        except asyncio.CancelledError:
            self.stopped = "interrupted"
            await asyncio.wait(workers)
            raise
        if any(worker.done() and worker.exception() for worker in workers):
            self.stopped = "failed"
        await asyncio.gather(*workers, return_exceptions=True)
        for worker in workers:
            worker.result()

    async def _converse(self, conversation: Conversation, turns: int | None) -> None:
        for number, (turn, messages) in enumerate(_requests(conversation, self.known)):
            if number == turns or self.stopped is not None:
                return
            if turn.trial_id in self.known:
                continue
            if turn.trial_id in self._failed:
                return
            requested = self._requested(turn)
            reply = await self._ask_within_budget(messages, requested)
            if reply is None:
                return
            await self._keep(conversation, turn, number, messages, requested, reply)
            if reply.finish == "error":
                return

    async def _ask_within_budget(
        self, messages: tuple[Message, ...], requested: Sampling
    ) -> Reply | None:
        """Ask, or return None where the sitting has ended or the budget does not allow it."""
        guess = guess_tokens(messages)
        aside = await self._budget.set_aside(guess)
        if aside is None:
            self.stopped = self.stopped or "max_cost"
            return None
        usage: tuple[int, int | None, int | None] = (0, 0, 0)
        try:
            if self.stopped is not None:
                return None
            self._open += 1
            try:
                reply = await self._participant.ask(messages, requested)
            finally:
                self._open -= 1
            usage = _usage(guess, reply)
        finally:
            # Whatever happened: others wait for what is set aside.
            await self._budget.settle(aside, *usage)
        return reply

    async def _keep(
        self,
        conversation: Conversation,
        turn: Turn,
        number: int,
        messages: tuple[Message, ...],
        requested: Sampling,
        reply: Reply,
    ) -> None:
        attempt = Attempt(
            trial_id=turn.trial_id,
            item_id=turn.item_id,
            conversation_id=conversation.conversation_id,
            prompting=conversation.prompting,
            repeat=conversation.repeat,
            turn=number,
            key=self._key(conversation, turn, messages, reply.effective),
            messages=messages,
            scale=conversation.scale,
            requested=requested,
            reply=reply,
        )
        await self._writer.add(attempt, others_open=self._open)
        if not attempt.final:
            self._failed.add(turn.trial_id)
            self._errors_in_a_row += 1
            if self._errors_in_a_row >= ERRORS_IN_A_ROW:
                self.stopped = self.stopped or "errors"
            return
        self._errors_in_a_row = 0
        self.known[turn.trial_id] = Known(
            key=attempt.key, effective=reply.effective, text=reply.text
        )
        self._done += 1
        self._progress(self._done, self._total)

    def _key(
        self,
        conversation: Conversation,
        turn: Turn,
        messages: tuple[Message, ...],
        effective: Sampling,
    ) -> str:
        requested = self._requested(turn)
        return reply_key(self._info, messages, requested, effective, conversation.repeat)

    def _requested(self, turn: Turn) -> Sampling:
        """Give every trial, and so every repeat, a seed of its own where seeds are used."""
        if self._sampling.seed is None:
            return self._sampling
        return replace(self._sampling, seed=trial_seed(self._sampling.seed, turn.trial_id))


def trial_seed(seed: int, trial_id: str) -> int:
    """Derive a trial's seed from the run's, so that repeats differ and items do not go together.

    Examples
    --------
    >>> trial_seed(1, "a|0") == trial_seed(1, "a|0"), trial_seed(1, "a|0") == trial_seed(1, "a|1")
    (True, False)
    """
    digest = hashlib.blake2b(f"{seed}|{trial_id}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def _requests(
    conversation: Conversation, known: dict[str, Known]
) -> Iterator[tuple[Turn, tuple[Message, ...]]]:
    """Yield each turn with all that is sent for it; it ends where an earlier reply is missing."""
    messages: tuple[Message, ...] = ()
    if conversation.system is not None:
        messages = (Message(role="system", content=conversation.system),)
    for turn in conversation.turns:
        messages = (*messages, Message(role="user", content=turn.text))
        yield turn, messages
        answered = known.get(turn.trial_id)
        if answered is None:
            return
        messages = (*messages, Message(role="assistant", content=answered.text))


def _usage(guess: int, reply: Reply) -> tuple[int, int | None, int | None]:
    """Return what a reply is to be charged with; a failed request costs nothing that we know of."""
    if reply.finish == "error":
        return 0, 0, 0
    out = reply.tokens_out
    if out is None:
        said = Message(role="assistant", content=reply.text + (reply.reasoning or ""))
        out = guess_tokens([said])
    return guess, reply.tokens_in, out
