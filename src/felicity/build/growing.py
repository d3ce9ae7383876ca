"""Grow a set: have written what is missing, take what is whole, ask again for the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from felicity.build.drafts import PARSER_VERSION, Drafts, read_drafts
from felicity.build.folder import DIALOGUES, TEMPLATES, BuildFolder, read_build
from felicity.build.requests import Request, Step, requests_of
from felicity.build.template import Template, render_templates
from felicity.build.wording import ORIGINAL, Made, Wording, append_text, append_wordings
from felicity.build.writers import Writer, WriterOf
from felicity.manifest import claim_folder, session, write_manifest
from felicity.participants.chat import is_same_model
from felicity.rating.eventloop import complete
from felicity.rating.journal import ReplyJournal, only_run
from felicity.rating.records import ParsedReply, Row
from felicity.rating.run import JOURNAL, describe, describe_sampling
from felicity.rating.sitting import Stopped

REPLIES = "replies"
TRIES = 3
# What must not differ when a writer's folder is gone on with; words and sampling are in its rows.
IDENTITY = {
    "study": "set",
    "spec": "model",
    "method": "method",
    "identity": "model weights or tokenizer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What came of one step.

    Attributes
    ----------
    step
        Which.
    asked, taken
        How many texts were missing, and how many are there now.
    statuses
        How many replies had which status, over all tries.
    missing
        Targets of which something is still missing, with the last status.
    stopped
        Why it ended early, where it did.
    """

    step: Step
    asked: int
    taken: int
    statuses: dict[str, int]
    missing: dict[str, str]
    stopped: Stopped | None


def grow(
    folder: Path | str, steps: Sequence[Step], open_writer: WriterOf, *, tries: int = TRIES
) -> list[Growth]:
    """Have written what is missing of each step.

    Every reply is in the journal of the writer, `replies/WRITER/journal.sqlite`, before anything
    is made of it. What is whole is appended to the set; for the rest the writer is asked again, at
    most ``tries`` times in all. Killed, the same command goes on where it broke off, and asks
    nothing twice.

    Parameters
    ----------
    folder
        The build folder.
    steps
        In their order.
    open_writer
        Opens who writes a step.
    tries
        How often one text is asked for.

    Raises
    ------
    RunError
        Where somebody else is writing to the folder, or it cannot be written.
    """
    build = read_build(folder)
    grown = []
    with only_run(build.folder):
        for step in steps:
            if requests_of(read_build(folder), step):
                writer = open_writer(step)
                grown.append(complete(partial(_grow, build.folder, step, writer, tries)))
            else:
                grown.append(
                    Growth(step=step, asked=0, taken=0, statuses={}, missing={}, stopped=None)
                )
    return grown


async def _grow(folder: Path, step: Step, writer: Writer, tries: int) -> Growth:
    build = read_build(folder)
    home = writer_folder(folder, writer)
    manifest = claim_folder(home, _manifest(build, writer), IDENTITY)
    statuses: Counter[str] = Counter()
    reasons: dict[str, str] = {}
    asked = sum(request.count for request in requests_of(build, step))
    taken = 0
    with only_run(home), ReplyJournal(home / JOURNAL) as journal:
        manifest["sessions"].append(session() | {"details": dict(writer.info.details)})
        write_manifest(home, manifest)
        try:
            for trial in range(tries):
                requests = requests_of(build, step, reasons)
                if not requests:
                    break
                names = {writer.trial_id(request, trial): request for request in requests}
                await writer.put(journal, requests, trial)
                answered = [
                    (names[row.attempt.trial_id], row)
                    for row in journal.rows()
                    if row.attempt.final and row.attempt.trial_id in names
                ]
                for request, row in sorted(answered, key=lambda pair: requests.index(pair[0])):
                    drafts = _read(build, request, row, writer, journal)
                    statuses[drafts.status] += 1
                    if drafts.status != "ok":
                        reasons[request.target] = drafts.status
                    taken += _take(build, request, row, drafts, writer)
                    build = read_build(folder) if drafts.count else build
                if not answered or writer.stopped is not None:
                    break
        finally:
            await writer.close()
            effective, notes = describe_sampling(journal.samplings())
            manifest |= {"sampling_effective": effective, "sampling_notes": notes}
            write_manifest(home, manifest)
    still = [request.target for request in requests_of(build, step)]
    return Growth(
        step=step,
        asked=asked,
        taken=taken,
        statuses=dict(statuses),
        missing={target: reasons.get(target, "no reply") for target in still},
        stopped=writer.stopped,
    )


def writer_folder(folder: Path, writer: Writer) -> Path:
    """Return where a writer's replies lie."""
    slug = "".join(c if c.isalnum() or c in "-_.@" else "-" for c in writer.info.spec)
    return folder / REPLIES / slug.strip("-.")


def _manifest(build: BuildFolder, writer: Writer) -> dict[str, Any]:
    told = {
        "paradigm": "build",
        "study": build.plan.name,
        "study_version": build.plan.version,
        "language": build.plan.language.code,
    }
    return describe(told, writer.info, writer.sampling)


def _read(
    build: BuildFolder, request: Request, row: Row, writer: Writer, journal: ReplyJournal
) -> Drafts:
    """Read a reply, and keep beside it what came of it the first time that it was read."""
    reply = row.attempt.reply
    asked, answered = writer.info.model, reply.model_id
    if asked is not None and answered is not None and not is_same_model(asked, answered):
        drafts = Drafts(status="model_mismatch")
    else:
        # Texts of an earlier reply of this round may have been taken since the request was made.
        fresh = {r.target: r for r in requests_of(build, request.step)}.get(request.target)
        fixed = fresh.fixed if fresh else request.fixed
        maxims = {line.template_id: line.maxim for line in build.bases}
        drafts = read_drafts(
            reply.text,
            reply.finish,
            replace(request, fixed=fixed),
            maxim=maxims.get(request.target, ""),
        )
    if row.parser_version != PARSER_VERSION:
        parsed = ParsedReply(
            number=row.number,
            value=float(drafts.count),
            status=drafts.status,
            span=None,
            version=PARSER_VERSION,
        )
        journal.store_parsed([parsed])
    return drafts


def _take(build: BuildFolder, request: Request, row: Row, drafts: Drafts, writer: Writer) -> int:
    """Append what a reply holds to the set; return how many texts that were."""
    if not drafts.count:
        return 0
    made = Made(by=writer.info.spec, kind="model", on=row.created[:10], reply=row.attempt.trial_id)
    if drafts.template is not None:
        append_template(build, replace(drafts.template, made=made))
        return 1
    questions = [texts["question"] for texts in drafts.texts]
    if request.step == "rewordings":
        lines = new_wordings(build, request.target, questions, made)
    else:
        lines = [
            Wording(
                dialogue_id=dialogue_id,
                template_id=request.target,
                maxim=build.of_template(request.target)[0].maxim,
                wording=ORIGINAL,
                made=made,
                **texts,
            )
            for dialogue_id, texts in zip(
                new_ids(request.target, [line.dialogue_id for line in build.originals]),
                drafts.texts,
                strict=False,
            )
        ]
    append_wordings(build.folder / DIALOGUES, lines)
    return len(lines)


def append_template(build: BuildFolder, template: Template) -> None:
    """Append a template to the set's file."""
    text = render_templates([template])
    append_text(build.folder / TEMPLATES, f"\n{text}" if build.templates else text)


def new_ids(stem: str, taken: Sequence[str]) -> Sequence[str]:
    """Return ids ``STEM-N`` that are not taken, a hundred of them, after the highest.

    Examples
    --------
    >>> new_ids("quality-01", ["quality-01-1", "quality-01-3", "relation-01-9"])[:2]
    ['quality-01-4', 'quality-01-5']
    """
    numbers = [
        int(number)
        for head, _, number in (name.rpartition("-") for name in taken)
        if head == stem and number.isdecimal()
    ]
    first = max(numbers, default=0) + 1
    return [f"{stem}-{number}" for number in range(first, first + 100)]


def new_wordings(
    build: BuildFolder, dialogue_id: str, questions: Sequence[str], made: Made
) -> list[Wording]:
    """Return a dialogue under further wordings, numbered after the highest."""
    there = build.of_dialogue(dialogue_id)
    highest = max(int(line.wording) if line.wording.isdecimal() else 0 for line in there)
    return [
        there[0].reworded(str(highest + number), question, made)
        for number, question in enumerate(questions, start=1)
    ]
