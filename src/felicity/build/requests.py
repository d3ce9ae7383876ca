"""What a writer is asked: which texts are missing, and the prompt for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from felicity.build.folder import BuildFolder
from felicity.build.language import Language
from felicity.build.template import Template
from felicity.build.wording import ORIGINAL, ROLES, TEXTS, Wording
from felicity.study import fill

Step = Literal["template", "dialogues", "rewordings"]
STEPS: tuple[Step, ...] = get_args(Step)
# Speakers' names come in later: a prompt shows the placeholders as they are.
_KEPT = {role: f"{{{role}}}" for role in ROLES}
_TEXT = {"type": "string"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One thing that a writer is asked for.

    Attributes
    ----------
    step, target
        What, and of which template or dialogue.
    count
        How many texts are asked for.
    prompt
        The words that are sent.
    fixed
        Texts that a reply must not repeat.
    """

    step: Step
    target: str
    count: int
    prompt: str
    fixed: tuple[tuple[str, ...], ...] = ()


def requests_of(
    build: BuildFolder, step: Step, reasons: Mapping[str, str] | None = None
) -> tuple[Request, ...]:
    """Return what is missing of a step, in the set's order.

    Parameters
    ----------
    build
        The folder as it is now.
    step
        ``template``: one for each base dialogue without. ``dialogues``: for each template, up to
        the plan's number. ``rewordings``: for each dialogue, up to the plan's number.
    reasons
        Target to the status of an earlier reply that could not be used whole.
    """
    makers: Mapping[Step, Callable[[BuildFolder], Sequence[Request]]] = {
        "template": _templates,
        "dialogues": _dialogues,
        "rewordings": _rewordings,
    }
    language = build.plan.language
    return tuple(
        _again(request, (reasons or {}).get(request.target), language)
        for request in makers[step](build)
    )


def schema_of(step: Step, most: int | None = None) -> dict[str, Any]:
    """Return the JSON schema of a reply, for models that can be held to one.

    ``most`` is how long a list may be; not every provider's schemas can say that.
    """
    if step == "rewordings":
        return _object(rewordings=_list(_TEXT, most))
    if step == "dialogues":
        return _object(dialogues=_list(_object(**dict.fromkeys(TEXTS, _TEXT)), most))
    slots = _list(_object(name=_TEXT, type=_TEXT), most)
    return _object(situation=_TEXT, **dict.fromkeys(TEXTS, _TEXT), slots=slots, why=_TEXT)


def _list(items: Mapping[str, Any], most: int | None) -> dict[str, Any]:
    return {"type": "array", "items": items} | ({} if most is None else {"maxItems": most})


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _again(request: Request, status: str | None, language: Language) -> Request:
    if status is None or status not in language.reasons:
        # The first time; or the reply was not the writer's fault.
        return request
    note = fill(language.prompts["again"], {"reason": language.reasons[status]})
    return Request(
        step=request.step,
        target=request.target,
        count=request.count,
        prompt=f"{request.prompt}\n\n{note}",
        fixed=request.fixed,
    )


def _templates(build: BuildFolder) -> list[Request]:
    there = {template.template_id for template in build.templates}
    return [
        Request(
            step="template",
            target=line.template_id,
            count=1,
            prompt=fill(
                build.plan.language.prompts["template"],
                _KEPT | {"thing": "{thing}"} | _rule(build, line.maxim) | line.texts,
            ),
        )
        for line in build.bases
        if line.template_id not in there
    ]


def _dialogues(build: BuildFolder) -> list[Request]:
    found = []
    for template in build.templates:
        there = build.of_template(template.template_id)
        missing = build.plan.dialogues - len(there)
        if missing > 0 and there:
            found.append(
                Request(
                    step="dialogues",
                    target=template.template_id,
                    count=missing,
                    prompt=_dialogues_prompt(build, template, there, missing),
                    # No text of the whole set may come twice.
                    fixed=tuple(tuple(line.texts.values()) for line in build.originals),
                )
            )
    return found


def _dialogues_prompt(
    build: BuildFolder, template: Template, there: Sequence[Wording], missing: int
) -> str:
    slots = "\n".join(f"{{{name}}}: {text}" for name, text in template.slots.items())
    existing = "\n\n".join(
        "\n".join(f"{name}: {text}" for name, text in line.texts.items()) for line in there
    )
    return fill(
        build.plan.language.prompts["dialogues"],
        _KEPT
        | _rule(build, template.maxim)
        | {
            "situation": template.situation,
            "pattern_question": template.question,
            "pattern_follower": template.follower,
            "pattern_violator": template.violator,
            "slots": slots,
            "why": template.why,
            "existing": existing,
            "count": str(missing),
        },
    )


def _rewordings(build: BuildFolder) -> list[Request]:
    found = []
    for line in build.originals:
        there = build.of_dialogue(line.dialogue_id)
        missing = build.plan.rewordings + 1 - len(there)
        if missing <= 0:
            continue
        others = [other.question for other in there if other.wording != ORIGINAL]
        existing = "".join(f"- {text}\n" for text in others)
        found.append(
            Request(
                step="rewordings",
                target=line.dialogue_id,
                count=missing,
                prompt=fill(
                    build.plan.language.prompts["rewordings"],
                    _KEPT | line.texts | {"count": str(missing), "existing": existing},
                ),
                fixed=tuple((other.question,) for other in there),
            )
        )
    return found


def _rule(build: BuildFolder, key: str) -> dict[str, str]:
    maxim = build.plan.maxim(key)
    return {
        "gloss": maxim.gloss,
        "follower_rule": maxim.follower,
        "violator_rule": maxim.violator,
    }
