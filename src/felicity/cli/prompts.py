"""`felicity prompts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from felicity.cli.options import parse_where
from felicity.cli.output import JSON_OPTION, note, print_json
from felicity.cli.studies import StudyArgument

if TYPE_CHECKING:
    from felicity.types import Conversation, Scale


def prompts(
    study: StudyArgument,
    prompting: list[str] = typer.Option(
        [], help="One of the study's promptings; may be repeated; default all."
    ),
    where: list[str] = typer.Option([], help="Only items with FACTOR=LEVEL; may be repeated."),
    presentation: str = typer.Option(
        None, help="single (one attribute a request) or block; default the study's."
    ),
    order: str = typer.Option("fixed", help="Of the attributes in a block: fixed or random."),
    seed: int = typer.Option(0, help="Of the random order."),
    limit: int = typer.Option(None, min=1, help="Only so many of each prompting."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Show the prompts of a rating study exactly as they are sent, role by role."""
    from felicity.rating.prompts import conversations
    from felicity.study import load_rating_study

    loaded = load_rating_study(study)
    chosen = conversations(
        loaded,
        promptings=prompting or None,
        repeats=1,
        presentation=presentation,
        order=order,
        seed=seed,
        where=parse_where(where),
        limit=limit,
    )
    if as_json:
        print_json([_plain(conversation, loaded.scale) for conversation in chosen])
        return
    for conversation in chosen:
        print(f"=== {conversation.conversation_id}")
        for message in _messages(conversation):
            print(f"--- {message['role']}")
            print("(the reply)" if message["content"] is None else message["content"])
        print()
    note(f"conversations: {len(chosen)}, each held once for every repeat")


def _plain(conversation: Conversation, scale: Scale) -> dict[str, Any]:
    return {
        "conversation_id": conversation.conversation_id,
        "prompting": conversation.prompting,
        "repeat": conversation.repeat,
        "scale": [scale.low, scale.high],
        "messages": _messages(conversation),
    }


def _messages(conversation: Conversation) -> list[dict[str, str | None]]:
    """List the messages in order; null is where the participant's reply will stand."""
    messages: list[dict[str, str | None]] = []
    if conversation.system is not None:
        messages.append({"role": "system", "trial_id": None, "content": conversation.system})
    for turn in conversation.turns:
        messages += [
            {"role": "user", "trial_id": turn.trial_id, "content": turn.text},
            {"role": "assistant", "trial_id": turn.trial_id, "content": None},
        ]
    return messages
