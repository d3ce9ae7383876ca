"""Where each text comes from, and every reply and decision, as rows for whoever reads a study."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from felicity.build.decisions import Decision
from felicity.build.folder import BuildFolder
from felicity.build.growing import REPLIES
from felicity.rating.journal import ReplyJournal
from felicity.rating.run import JOURNAL


def provenance_rows(
    build: BuildFolder, kept: BuildFolder, sources: Sequence[str]
) -> list[dict[str, Any]]:
    """Return who made each template and line of a study; ``made`` is null where it is not known.

    ``source_wording`` is the wording's label in the build folder.
    """
    rows: list[dict[str, Any]] = []
    for template in kept.templates:
        made = build.made(template)
        rows.append({"template_id": template.template_id, "made": made and made.as_row()})
    for line, source in zip(kept.wordings, sources, strict=True):
        made = build.made(line)
        rows.append(
            {
                "dialogue_id": line.dialogue_id,
                "wording": line.wording,
                "source_wording": source,
                "made": made and made.as_row(),
            }
        )
    return rows


def reply_rows(build: BuildFolder) -> list[dict[str, Any]]:
    """Return every reply of every writer, used or not, with its prompt and parameters."""
    rows = []
    for path in sorted((build.folder / REPLIES).glob(f"*/{JOURNAL}")):
        manifest = json.loads((path.parent / "run.json").read_text(encoding="utf-8"))
        with ReplyJournal(path, read_only=True) as journal:
            for row in journal.rows():
                attempt, reply = row.attempt, row.attempt.reply
                rows.append(
                    {
                        "reply": attempt.trial_id,
                        "writer": manifest["participant"]["spec"],
                        "step": attempt.prompting,
                        "target": attempt.item_id,
                        "try": attempt.repeat,
                        "status": row.status if attempt.final else "error",
                        "taken": int(row.value or 0),
                        "prompt": attempt.messages[-1].content,
                        "text": reply.text,
                        "finish": reply.finish,
                        "error": reply.error,
                        "model": reply.model_id,
                        "sampling": asdict(reply.effective),
                        "created": row.created,
                    }
                )
    return rows


def decision_rows(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return every decision, with annotators as numbers: who they are is not for a study to say."""
    names: dict[str, str] = {}
    rows = []
    for decision in decisions:
        name = names.setdefault(decision.annotator, f"annotator-{len(names) + 1}")
        rows.append(asdict(decision) | {"annotator": name})
    return rows
