"""How far a set is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from felicity.build.decisions import read_decisions
from felicity.build.folder import BuildFolder
from felicity.build.growing import REPLIES
from felicity.build.outcome import decide
from felicity.build.wording import ORIGINAL
from felicity.rating.journal import ReplyJournal
from felicity.rating.run import JOURNAL


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildStatus:
    """How far a set is.

    Attributes
    ----------
    maxims
        Maxim to what is there and what there is to be: ``base``, ``templates``, ``dialogues`` and
        ``rewordings``, each as two numbers.
    writers
        Writer to the statuses of their replies, with counts.
    judged
        Whether anybody has judged anything.
    decisions
        State of a line (`felicity.build.outcome.State`) to how many lines have it.
    """

    maxims: Mapping[str, Mapping[str, tuple[int, int]]]
    writers: Mapping[str, Mapping[str, int]]
    judged: bool
    decisions: Mapping[str, int]


def build_status(build: BuildFolder) -> BuildStatus:
    """Count what is there and what is missing.

    Examples
    --------
    >>> from felicity.build.folder import read_build
    >>> build_status(read_build("gricean-maxims")).maxims["quality"]["rewordings"]
    (50, 50)
    """
    decisions = read_decisions(build.folder)
    states = Counter(str(outcome.state) for outcome in decide(build.wordings, decisions))
    return BuildStatus(
        maxims={key: _of_maxim(build, key) for key in build.plan.maxim_keys},
        writers=reply_statuses(build),
        judged=bool(decisions),
        decisions=dict(states),
    )


def _of_maxim(build: BuildFolder, maxim: str) -> dict[str, tuple[int, int]]:
    bases = sum(line.maxim == maxim for line in build.bases)
    dialogues = sum(line.maxim == maxim for line in build.originals)
    reworded = sum(line.maxim == maxim and line.wording != ORIGINAL for line in build.wordings)
    templates = sum(template.maxim == maxim for template in build.templates)
    asked = bases * build.plan.dialogues
    return {
        "base": (bases, bases),
        "templates": (templates, bases),
        "dialogues": (dialogues, asked),
        "rewordings": (reworded, asked * build.plan.rewordings),
    }


def reply_statuses(build: BuildFolder) -> dict[str, dict[str, int]]:
    """Return each writer's replies by status; failed requests are ``error``."""
    found: dict[str, dict[str, int]] = {}
    for path in sorted((build.folder / REPLIES).glob(f"*/{JOURNAL}")):
        manifest = json.loads((path.parent / "run.json").read_text(encoding="utf-8"))
        with ReplyJournal(path, read_only=True) as journal:
            counts = Counter(
                (row.status or "unread") if row.attempt.final else "error" for row in journal.rows()
            )
        found[str(manifest["participant"]["spec"])] = dict(counts)
    return found
