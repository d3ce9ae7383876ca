"""What a model makes of each line: its margin between the answers, from a scored run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from felicity.build.checks.surprisal import LABELS
from felicity.build.folder import BuildFolder
from felicity.errors import RunError


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """Margins of a run by dialogue and wording.

    Attributes
    ----------
    model
        Who was scored.
    nats
        Mean log-probability per token of the follower minus that of the violator, averaged over
        the names of speakers.
    """

    model: str
    nats: Mapping[tuple[str, str], float]


def read_margins(build: BuildFolder, run: Path) -> Margins:
    """Read the margins of a scored run.

    Raises
    ------
    RunError
        Where it is no scored run of choices, or of another set.
    """
    from felicity.runner import read_run

    done = read_run(run)
    columns = done.responses.columns
    if not {"log_prob_mean", "wording", "answer_label"} <= {*columns}:
        raise RunError("it has no wordings and scores", where=str(run), hint="--run RUN of the set")
    unit = "dialogue_id" if "dialogue_id" in columns else "unit"
    wanted = ("item_id", unit, "wording", "answer_label", "log_prob_mean")
    scores: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for item, dialogue, wording, label, score in done.responses.select(*wanted).iter_rows():
        if score is not None:
            scores[str(item), str(dialogue), str(wording)][str(label)] = float(score)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (_, dialogue, wording), by in scores.items():
        if {*LABELS} <= {*by}:
            found[dialogue, wording].append(by["follower"] - by["violator"])
    known = {(line.dialogue_id, line.wording) for line in build.wordings}
    nats = {key: fmean(values) for key, values in found.items() if key in known}
    if not nats:
        raise RunError("no dialogue of this set was run", where=str(run))
    return Margins(model=done.label, nats=nats)
