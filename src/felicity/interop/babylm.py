"""A study in the EWoK shape that the BabyLM evaluation pipeline reads with ``--task ewok``."""

from __future__ import annotations

from collections.abc import Sequence

from felicity.errors import OptionError
from felicity.interop.texts import Rendered, identifier, jsonl
from felicity.study import Format, Study


def babylm_files(study: Study, fmt: Format, items: Sequence[Rendered]) -> dict[str, str]:
    """Return the one file, in a folder that holds nothing else: the pipeline reads all of it.

    The pipeline puts one space between context and target, and compares two targets.

    Raises
    ------
    OptionError
        Where the format's texts cannot come out so.
    """
    if len(study.design.answers) != 2:
        raise OptionError(
            f"got a study of {len(study.design.answers)} answers; expected 2, which is what the "
            "pipeline compares",
            where=study.name,
        )
    for one in items:
        ragged = one.context != one.context.rstrip()
        for answer in one.answers:
            if ragged or not answer.startswith(" ") or answer[1:2].isspace():
                raise OptionError(
                    f"got {one.context[-8:]!r} + {answer[:8]!r}; expected one space between, which "
                    "the pipeline puts there",
                    where=f"format {fmt.name}, {one.item.item_id}",
                    hint="choose another with --texts",
                )
    rows = [
        {
            "Domain": one.item.factors[study.design.factor],
            "Context1": one.context,
            "Context2": one.context,
            "Target1": one.answers[0][1:],
            "Target2": one.answers[1][1:],
            "ContextType": "direct",
            "ContextDiff": "none",
            "TargetDiff": " | ".join(study.design.answers),
            "ItemID": one.item.item_id,
        }
        for one in items
    ]
    return {f"{identifier(study.name)}/{identifier(study.name)}.jsonl": jsonl(rows)}
