"""A study as a task of Inspect: prompts as Felicity sends them, replies read as it reads them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from felicity.asked.prompts import asked_conversations, task_of
from felicity.interop.texts import identifier, jsonl
from felicity.rating.prompts import conversations
from felicity.rating.study import RatingStudy
from felicity.study import Study
from felicity.types import Choice, Conversation, Item, Scale

ASKED = '''"""{title}

An Inspect task, written by Felicity. Run it with

    inspect eval {file} --model PROVIDER/MODEL

Each item is asked twice, with the answers in either order. The reply is read by Felicity's parser
(pip install felicity): a reply that names no answer is no pick and counts as not correct.
"""

from pathlib import Path

from felicity.asked.parse import parse_choice
from felicity.types import Choice
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, grouped, scorer, stderr
from inspect_ai.solver import generate


@scorer(metrics=[grouped(accuracy(), {factor!r}), stderr(cluster="unit")])
def pick():
    """Score whether the reply names the answer that was asked for."""

    async def score(state, target):
        told = state.metadata
        shown = Choice(
            labels=tuple(told["labels"]), answers=tuple(told["shown"]), words=tuple(told["words"])
        )
        read = parse_choice(state.output.completion, str(state.output.stop_reason), shown)
        named = None if read.value is None else told["labels"][read.value]
        return Score(
            value=CORRECT if named == target.text else INCORRECT,
            answer=named or read.status,
            explanation=state.output.completion,
        )

    return score


@task
def {name}():
    """{title}"""
    samples = json_dataset(str(Path(__file__).parent / "samples.jsonl"))
    return Task(dataset=samples, solver=generate(), scorer=pick())
'''
SAMPLED = '''"""{title}

An Inspect task, written by Felicity. Run it with

    inspect eval {file} --model PROVIDER/MODEL

A sample is one question of one prompting; epochs are its repeats. The score is the rating that
Felicity's parser reads (pip install felicity); a reply without one has no score (NaN).
"""

from pathlib import Path

from felicity.rating.parse import parse_reply
from felicity.types import Scale
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, mean, scorer, std
from inspect_ai.solver import generate


@scorer(metrics=[mean(), std()])
def rating():
    """Score a reply by the rating in it."""

    async def score(state, target):
        scale = Scale(**state.metadata["scale"])
        read = parse_reply(state.output.completion, str(state.output.stop_reason), scale)
        value = float("nan") if read.value is None else float(read.value)
        return Score(value=value, answer=read.status, explanation=state.output.completion)

    return score


@task
def {name}():
    """{title}"""
    samples = json_dataset(str(Path(__file__).parent / "samples.jsonl"))
    return Task(dataset=samples, solver=generate(), scorer=rating(), epochs={repeats})
'''


def asked_files(study: Study, items: tuple[Item, ...]) -> dict[str, str]:
    """Return the task and its samples: each item in both orders.

    Raises
    ------
    OptionError
        Where the study has no question to ask.
    """
    task = task_of(study)
    by_id = {item.item_id: item for item in items}
    samples = [
        {
            "id": talk.conversation_id,
            "input": talk.turns[0].text,
            "target": _wanted(talk, by_id[talk.turns[0].item_id], task.pick),
            "metadata": {
                "unit": by_id[talk.turns[0].item_id].unit,
                **by_id[talk.turns[0].item_id].factors,
                **_shown(talk),
            },
        }
        for talk in asked_conversations(study)
        if talk.turns[0].item_id in by_id
    ]
    name = f"{identifier(study.name)}_asked"
    text = ASKED.format(title=study.title, file=f"{name}.py", name=name, factor=study.design.factor)
    return {f"{name}.py": text, "samples.jsonl": jsonl(samples)}


def sampled_files(study: RatingStudy, chosen: Sequence[Conversation]) -> dict[str, str]:
    """Return the task and its samples: each question of each prompting once."""
    samples: list[dict[str, Any]] = []
    factors = {item.item_id: dict(item.factors) for item in study.items}
    for talk in chosen:
        assert isinstance(talk.scale, Scale)
        scale = talk.scale
        system = [{"role": "system", "content": talk.system}] if talk.system else []
        samples.append(
            {
                "id": talk.conversation_id,
                "input": [*system, {"role": "user", "content": talk.turns[0].text}],
                "target": "",
                "metadata": {
                    "prompting": talk.prompting,
                    **factors[talk.turns[0].item_id],
                    "scale": {"low": scale.low, "high": scale.high,
                              "low_label": scale.low_label, "high_label": scale.high_label},
                },
            }
        )  # fmt: skip
    name = f"{identifier(study.name)}_sampled"
    text = SAMPLED.format(
        title=study.title, file=f"{name}.py", name=name, repeats=json.dumps(study.repeats)
    )
    return {f"{name}.py": text, "samples.jsonl": jsonl(samples)}


def rating_conversations(study: RatingStudy, limit: int | None) -> tuple[Conversation, ...]:
    """Return each question of each prompting once; repeats are Inspect's epochs."""
    return conversations(study, repeats=1, presentation="single", limit=limit)


def _wanted(talk: Conversation, item: Item, pick: str) -> str:
    choice = talk.scale
    assert isinstance(choice, Choice)
    return choice.labels[choice.answers.index(item.answers[pick])]


def _shown(talk: Conversation) -> dict[str, Any]:
    choice = talk.scale
    assert isinstance(choice, Choice)
    return {
        "labels": list(choice.labels),
        "shown": list(choice.answers),
        "words": list(choice.words),
    }
