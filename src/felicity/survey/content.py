"""What a survey consists of, as one value that the page reads as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from felicity.errors import FaultsError, FelicityError, OptionError, one_of
from felicity.folder_reader import FolderReader
from felicity.rating.study import ATTRIBUTE, RatingStudy, scale_texts
from felicity.study import PLACEHOLDER, Study, fill
from felicity.survey.lists import Scene, choice_lists, rating_lists
from felicity.survey.section import SurveyTask, read_survey_task
from felicity.survey.texts import QUESTIONS, Texts

FORMAT = 1
# Wider scales are answered by typing the number.
MOST_BUTTONS = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyOptions:
    """What a survey is made with, beside the study.

    Attributes
    ----------
    consent
        The consent text, paragraphs with an empty line between; None for the template.
    title
        What participants see as the title; None for the language's neutral one. The study's own
        title would tell them what is expected.
    format, per_level
        Choice: the dialogue format, and how many units of each level a participant sees.
    checks
        Number of attention checks.
    ask
        Which of `texts.QUESTIONS` to ask at the end.
    code, url
        Shown at the end, for platforms that pay on it.
    """

    texts: Texts
    consent: str | None = None
    title: str | None = None
    format: str | None = None
    per_level: int | None = None
    checks: int = 2
    ask: tuple[str, ...] = field(default=())
    code: str | None = None
    url: str | None = None


def survey_task(study: Study | RatingStudy) -> SurveyTask:
    """Read the study's own section ``[survey]`` from its folder.

    Raises
    ------
    FaultsError
        With every fault of the section.
    """
    reader = FolderReader(study.folder)
    table = reader.toml("study.toml") or {}
    if isinstance(study, Study):
        task = read_survey_task(
            reader,
            table,
            paradigm="choice",
            columns=study.items[0].columns(),
            answers=study.design.answers,
        )
    else:
        task = read_survey_task(
            reader,
            table,
            paradigm="rating",
            columns=study.items[0].columns(),
            promptings=study.promptings,
        )
    if reader.faults:
        raise FaultsError(reader.faults, where=str(study.folder))
    return task


def survey_content(study: Study | RatingStudy, options: SurveyOptions) -> dict[str, Any]:
    """Put together all that the page needs.

    Returns
    -------
    dict
        ``stimuli`` by id, ``lists`` of ids, texts and settings; ``survey`` is a hash of all else,
        by which answers are told from those to another survey.

    Raises
    ------
    OptionError
        For an option that is not allowed here.
    FelicityError
        Where the study's prompts have no block with the scene alone.
    """
    _check(study, options)
    task = survey_task(study)
    if isinstance(study, Study):
        own = _choice(study, options, task)
    else:
        own = _rating(study, options, task)
    consent = options.consent if options.consent is not None else options.texts["consent"]
    content = {
        "format": FORMAT,
        "study": study.name,
        "version": study.version,
        "data_hash": study.data_hash,
        "paradigm": study.paradigm,
        "language": study.language,
        "title": options.title or options.texts["title"],
        "texts": {name: text for name, text in options.texts.items() if name != "consent"},
        "consent": _paragraphs(consent),
        "draft": options.consent is None,
        "checks": options.checks,
        "ask": list(options.ask),
        "code": options.code,
        "url": options.url,
        **own,
    }
    plain = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return {"survey": hashlib.blake2b(plain.encode(), digest_size=8).hexdigest(), **content}


def read_consent(path: Path) -> str:
    """Read a consent text.

    Raises
    ------
    FelicityError
        Where it cannot be read or is empty.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FelicityError(f"{reason}; expected a text file in UTF-8", where=str(path)) from None
    if not text.strip():
        raise FelicityError("the file is empty; expected a consent text", where=str(path))
    return text


def _check(study: Study | RatingStudy, options: SurveyOptions) -> None:
    for name in options.ask:
        if name not in QUESTIONS:
            raise OptionError(f'got "{name}"; expected {one_of(QUESTIONS)}', where="--ask")
    if len(set(options.ask)) < len(options.ask):
        raise OptionError(f"got {', '.join(options.ask)}; expected each once", where="--ask")
    if options.checks < 0:
        raise OptionError(f"got {options.checks}; expected 0 or more", where="--checks")
    if options.url is not None and not options.url.startswith(("https://", "http://")):
        raise OptionError(f'got "{options.url}"; expected https://…', where="--completion-url")
    if isinstance(study, RatingStudy):
        for name, value in (("--format", options.format), ("--per-level", options.per_level)):
            if value is not None:
                raise OptionError(f"got {value}; expected none in a rating study", where=name)


def _paragraphs(text: str) -> list[str]:
    return [part.strip() for part in text.strip().split("\n\n") if part.strip()]


def _choice(study: Study, options: SurveyOptions, task: SurveyTask) -> dict[str, Any]:
    if len(study.design.answers) > 2:
        raise OptionError(
            f"got a study of {len(study.design.answers)} answers; expected 2, which is what the "
            "page shows side by side",
            where=study.name,
        )
    fmt = study.format(options.format)
    question = task.question or options.texts["question_choice"]
    lists = choice_lists(study, options.per_level)
    stimuli = {}
    for item in study.items:
        texts = {label: fmt.render(item, label)[0] for label in study.design.answers}
        stimuli[item.item_id] = {
            "context": next(iter(texts.values())).context.strip(),
            "answers": {label: pair.answer.strip() for label, pair in texts.items()},
            "question": fill(question, item.columns()),
        }
    return {
        "asked_for": task.pick or study.design.answers[0],
        "instructions": [],
        "stimuli": stimuli,
        "lists": [[item.item_id for item in each] for each in lists],
    }


def _rating(study: RatingStudy, options: SurveyOptions, task: SurveyTask) -> dict[str, Any]:
    prompting = task.prompting or next(iter(study.promptings))
    blocks = [study.blocks[name] for name in study.promptings[prompting]]
    question = task.question or options.texts["question_rating"]
    if ATTRIBUTE not in PLACEHOLDER.findall(question):
        raise OptionError(f'got "{question}"; expected {{attribute}} in it', where="question")
    asked = {ATTRIBUTE, *scale_texts(study.scale)}
    told = [text for text in blocks if PLACEHOLDER.search(text)]
    told = [text for text in told if not asked & set(PLACEHOLDER.findall(text))]
    lists = rating_lists(study, task.layout)
    scenes = {scene[0].scene_id: scene for each in lists for scene in each}
    stimuli = {name: _scene(scene, told, question) for name, scene in scenes.items()}
    shown = ["\n".join(stimulus["scene"]) for stimulus in stimuli.values()]
    if len(set(shown)) < len(shown):
        raise FelicityError(
            f"the blocks of {prompting} that do not ask for a rating do not tell scenes apart; "
            "expected a block that names the scene's fields but neither {attribute} nor the scale",
            where=study.name,
            hint="put the scene into a block of its own, or name another prompting under [survey]",
        )
    return {
        "scale": {"low": study.scale.low, "high": study.scale.high}
        | {"low_label": study.scale.low_label, "high_label": study.scale.high_label},
        "typed": study.scale.high - study.scale.low >= MOST_BUTTONS,
        "instructions": [text for text in blocks if not PLACEHOLDER.search(text)],
        "stimuli": stimuli,
        "lists": [[scene[0].scene_id for scene in each] for each in lists],
    }


def _scene(scene: Scene, told: Sequence[str], question: str) -> dict[str, Any]:
    def filled(template: str, values: Mapping[str, str]) -> str:
        return fill(template, values).strip()

    first = {**scene[0].factors, **scene[0].texts}
    return {
        "scene": [filled(text, first) for text in told],
        "questions": [
            [item.factors[ATTRIBUTE], filled(question, {**item.factors, **item.texts})]
            for item in scene
        ],
    }
