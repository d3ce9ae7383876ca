"""Compose the prompts of a rating study from its blocks, exactly as they are sent."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import Literal

from felicity.errors import OptionError, one_of
from felicity.rating.study import PRESENTATIONS, RatingItem, RatingStudy, scale_texts
from felicity.study import PLACEHOLDER, fill
from felicity.types import Conversation, Scale, Turn

Order = Literal["fixed", "random"]
ORDERS: tuple[Order, ...] = ("fixed", "random")
BETWEEN_BLOCKS = "\n\n"


def conversations(
    study: RatingStudy,
    *,
    promptings: Sequence[str] | None = None,
    repeats: int | None = None,
    presentation: str | None = None,
    order: str = "fixed",
    seed: int = 0,
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> tuple[Conversation, ...]:
    """Return everything that is put to a participant, in a stable order.

    Parameters
    ----------
    study
        A rating study.
    promptings
        Names of promptings; all of the study's where not given.
    repeats
        How often each conversation is held; the study's default where not given.
    presentation
        ``single``: one item a conversation. ``block``: the scene once, then its attributes one
        after the other in one conversation. The study's default where not given.
    order
        Of the attributes in a block: ``fixed`` is the study's; ``random`` is drawn for each
        conversation from ``seed`` and the conversation's id.
    where
        Only items with these factor levels.
    limit
        Only the first so many items (single) or scenes (block) of each prompting.

    Returns
    -------
    tuple of Conversation
        By prompting, then item or scene, then repeat. A trial's id is
        ``ITEM_ID|PROMPTING|REPEAT`` under either presentation.

    Raises
    ------
    FelicityError
        For an option that is not allowed, or a selection that is empty.

    Notes
    -----
    In a block, what does not change with the attribute is said in the first turn only.

    Examples
    --------
    >>> from felicity.study import load_rating_study
    >>> study = load_rating_study("social-meaning")
    >>> len(conversations(study)), len(conversations(study, presentation="block"))
    (5760, 960)
    >>> first = conversations(study, promptings=["MIN"], limit=1)[0]
    >>> first.turns[0].trial_id
    'house-high-precise-competent|MIN|0'
    """
    presentation = study.presentation if presentation is None else presentation
    repeats = study.repeats if repeats is None else repeats
    names = tuple(study.promptings) if promptings is None else tuple(promptings)
    _check_options(study, names, repeats, presentation, order, limit)
    items = study.select(where or {})
    groups = _scenes(items) if presentation == "block" else [(item,) for item in items]
    return tuple(
        _conversation(study, name, group, repeat, presentation, seed if order == "random" else None)
        for name in names
        for group in groups[:limit]
        for repeat in range(repeats)
    )


def compose(blocks: Sequence[str], item: RatingItem, scale: Scale) -> str:
    r"""Fill blocks with an item's texts and join them with an empty line between.

    Examples
    --------
    >>> item = RatingItem(item_id="i", scene_id="s", factors={"attribute": "kind"}, texts={})
    >>> compose(["How {attribute}?", "From {low} to {high}."], item, Scale(low=1, high=7))
    'How kind?\n\nFrom 1 to 7.'
    """
    return BETWEEN_BLOCKS.join(_filled(blocks, item, scale))


def item_text(study: RatingStudy, item: RatingItem) -> str:
    """Return what the first prompting says of this item: its blocks that have placeholders."""
    first = next(iter(study.promptings.values()))
    texts = [study.blocks[name] for name in first]
    return compose([text for text in texts if PLACEHOLDER.search(text)], item, study.scale)


def _filled(blocks: Sequence[str], item: RatingItem, scale: Scale) -> list[str]:
    values = {**scale_texts(scale), **item.factors, **item.texts}
    return [fill(block, values) for block in blocks]


def _scenes(items: Sequence[RatingItem]) -> list[tuple[RatingItem, ...]]:
    """Group items by scene. The attribute is the last factor, so that a scene's items adjoin."""
    grouped = itertools.groupby(items, key=lambda item: item.scene_id)
    return [tuple(group) for _, group in grouped]


def _conversation(
    study: RatingStudy,
    prompting: str,
    items: tuple[RatingItem, ...],
    repeat: int,
    presentation: str,
    seed: int | None,
) -> Conversation:
    subject = items[0].scene_id if presentation == "block" else items[0].item_id
    conversation_id = f"{subject}|{prompting}|{repeat}"
    if seed is not None:
        items = _shuffled(items, seed, conversation_id)
    blocks = [study.blocks[name] for name in study.promptings[prompting]]
    system = study.blocks[study.system] if study.system is not None else None
    texts = _turn_texts([_filled(blocks, item, study.scale) for item in items])
    return Conversation(
        conversation_id=conversation_id,
        prompting=prompting,
        repeat=repeat,
        system=None if system is None else compose([system], items[0], study.scale),
        turns=tuple(
            Turn(trial_id=f"{item.item_id}|{prompting}|{repeat}", item_id=item.item_id, text=text)
            for item, text in zip(items, texts, strict=True)
        ),
        scale=study.scale,
    )


def _turn_texts(turns: Sequence[Sequence[str]]) -> list[str]:
    """Join each turn's blocks; blocks that are the same in all turns are in the first only."""
    changes = [len(set(texts)) > 1 for texts in zip(*turns, strict=True)]
    later = (itertools.compress(turn, changes) for turn in turns[1:])
    return [BETWEEN_BLOCKS.join(turn) for turn in (turns[0], *later)]


def _shuffled(
    items: Sequence[RatingItem], seed: int, conversation_id: str
) -> tuple[RatingItem, ...]:
    """Order items by a hash, which no version of a random generator can change."""

    def draw(item: RatingItem) -> bytes:
        text = f"{seed}|{conversation_id}|{item.item_id}"
        return hashlib.blake2b(text.encode(), digest_size=16).digest()

    return tuple(sorted(items, key=draw))


def _check_options(
    study: RatingStudy,
    names: tuple[str, ...],
    repeats: int,
    presentation: str,
    order: str,
    limit: int | None,
) -> None:
    for name in names:
        if name not in study.promptings:
            raise OptionError(
                f'got "{name}"; expected {one_of(study.promptings)}', where="prompting"
            )
    if not names or len(set(names)) < len(names):
        raise OptionError(
            f"got {', '.join(names) or 'none'}; expected each prompting once", where="prompting"
        )
    for where, number in (("repeats", repeats), ("limit", limit)):
        if number is not None and number < 1:
            raise OptionError(f"got {number}; expected a whole number from 1", where=where)
    for where, got, allowed in (
        ("presentation", presentation, PRESENTATIONS),
        ("order", order, ORDERS),
    ):
        if got not in allowed:
            raise OptionError(f'got "{got}"; expected {one_of(allowed)}', where=where)
