"""Runs of a choice study with given margins, made through journal and table like real ones."""

from __future__ import annotations

from felicity.responses import responses_table
from felicity.runner import Run
from felicity.types import Response, TokenScores


def made_run(
    study,
    folder,
    margin_of,
    *,
    label="A model",
    fmt=None,
    status="ok",
    items=None,
    architecture=None,
    chat_template=False,
):
    """A run whose margins are given; it goes through journal and table like a real one."""
    from felicity.journal import Journal

    folder.mkdir(parents=True)
    with Journal(folder / "journal.sqlite") as journal:
        for item in study.items if items is None else items:
            for place, answer in enumerate(study.design.answers):
                value = -2.0 + (margin_of(item) if place == 0 else 0.0)
                scores = TokenScores(token_ids=(1, 2), tokens=("a", "b"), log_probs=(value, value))
                baseline = TokenScores(token_ids=(1,), tokens=("a",), log_probs=(-1.0,))
                journal.add(
                    [Response(trial_id=f"{item.item_id}|{answer}", key="k", status=status,
                              scores=scores, baseline=baseline)]
                )  # fmt: skip
    participant = {
        "label": label, "method": "logprob", "prefix": "none", "dtype": "float32", "spec": "x",
        "weights_fingerprint": label, "instruct": chat_template, "architecture": architecture,
    }  # fmt: skip
    manifest = {
        "study": study.name, "participant": participant, "format": {"name": fmt or "names"},
    }  # fmt: skip
    return Run(
        folder=folder,
        study=study,
        manifest=manifest,
        responses=responses_table(folder / "journal.sqlite", study, study.format().answer),
        asked=2 * len(study.items),
    )
