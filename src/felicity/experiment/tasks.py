"""Every run that an experiment asks for: study × model × method × format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from felicity.asked.prompts import asked_conversations
from felicity.errors import Fault, FaultsError
from felicity.experiment.definition import Experiment, Group, Member, Settings
from felicity.experiment.keys import CHOICE_METHODS
from felicity.experiment.toml_reader import unknown
from felicity.participants.spec import parse_spec
from felicity.rating.prompts import conversations
from felicity.rating.study import RatingStudy
from felicity.study import Study, load_study
from felicity.types import RATING_METHODS

ASKED = "asked"
EXPECTED = "expected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One run: one study on one model under one way of asking it.

    Attributes
    ----------
    source
        The study as the experiment names it: built-in name or folder.
    groups
        Names of the groups that it is reported in.
    method, format
        None is the default: of the architecture, of the study.
    settings
        Those that mean something to this study; lists of methods and formats are taken apart.
    folder
        The run folder.
    """

    source: str
    study: Study | RatingStudy
    groups: tuple[str, ...]
    member: Member
    method: str | None
    format: str | None
    settings: Settings
    folder: Path

    @property
    def name(self) -> str:
        """What it is called in the log: study and run folder."""
        return f"{self.study.name}/{self.folder.name}"

    @property
    def is_scored(self) -> bool:
        """Whether given answers are scored, and no question is put to the model."""
        return isinstance(self.study, Study) and self.method != ASKED

    @property
    def label(self) -> str:
        """What the model is called."""
        return self.member.label or parse_spec(self.member.spec).label

    def trial_ids(self) -> tuple[str, ...]:
        """Return the id of every trial that a complete run has answered."""
        settings, study = self.settings, self.study
        if isinstance(study, RatingStudy):
            repeats = settings.repeats
            if repeats is None and self.method == EXPECTED:
                repeats = 1
            asked = conversations(
                study,
                promptings=settings.promptings,
                repeats=repeats,
                presentation=settings.presentation,
                order=settings.order or "fixed",
                seed=settings.seed or 0,
                where=settings.where,
                limit=settings.limit,
            )
        elif self.method == ASKED:
            asked = asked_conversations(study, where=settings.where, limit=settings.limit)
        else:
            items = study.select(settings.where or {}, settings.limit)
            return tuple(
                f"{item.item_id}|{label}" for item in items for label in study.design.answers
            )
        return tuple(turn.trial_id for each in asked for turn in each.turns)


def plan_tasks(experiment: Experiment) -> tuple[Task, ...]:
    """Return all runs, a model's one after the other, so that each is loaded once.

    A model that stands in several groups is run once.

    Raises
    ------
    FaultsError
        Where a study has faults, or settings name what no study of theirs has.
    """
    studies = {source: load_study(source) for source in experiment.studies}
    faults: list[Fault] = []
    tasks: dict[Path, Task] = {}
    for group in experiment.groups:
        for member in group.members:
            taking = {each: studies[each] for each in group.studies or experiment.studies}
            faults += _check(experiment, member, list(studies.values()))
            if not faults:
                for task in _tasks(experiment, group, member, taking):
                    old = tasks.get(task.folder, task)
                    groups = dict.fromkeys((*old.groups, *task.groups))
                    tasks[task.folder] = replace(task, groups=tuple(groups))
    if faults:
        raise FaultsError(
            list(dict.fromkeys(faults)),
            where=str(experiment.file),
            hint="docs/experiments.md shows every key",
        )
    return tuple(tasks.values())


def _tasks(
    experiment: Experiment,
    group: Group,
    member: Member,
    studies: Mapping[str, Study | RatingStudy],
) -> Iterator[Task]:
    for source, study in studies.items():
        for method in _methods(study, member.settings):
            for fmt in _formats(study, method, member.settings):
                word = method or ("sampled" if isinstance(study, RatingStudy) else None)
                shown = fmt or (study.default_format if isinstance(study, Study) else None)
                parts = [member.folder, word, None if method == ASKED else shown]
                yield Task(
                    source=source,
                    study=study,
                    groups=(group.name,),
                    member=member,
                    method=method,
                    format=fmt,
                    settings=_fitting(study, method, member.settings),
                    folder=experiment.out / study.name / "-".join(part for part in parts if part),
                )


def _methods(study: Study | RatingStudy, settings: Settings) -> list[str | None]:
    known = RATING_METHODS if isinstance(study, RatingStudy) else CHOICE_METHODS
    return [each for each in settings.methods or () if each in known] or [None]


def _formats(
    study: Study | RatingStudy, method: str | None, settings: Settings
) -> list[str | None]:
    if isinstance(study, RatingStudy) or method == ASKED:
        return [None]
    return [each for each in settings.formats or () if each in study.formats] or [None]


def _fitting(study: Study | RatingStudy, method: str | None, settings: Settings) -> Settings:
    """Keep what means something to a run; the rest is meant for other studies or methods."""
    where = {
        name: level
        for name, level in (settings.where or {}).items()
        if name in study.items[0].factors
    }
    kept = replace(settings, methods=None, formats=None, where=where or None)
    if isinstance(study, RatingStudy):
        if method == EXPECTED:
            return replace(kept, temperature=None, max_tokens=None)
        return kept
    kept = replace(kept, promptings=None, repeats=None, presentation=None)
    if method == ASKED:
        return kept
    return replace(kept, temperature=None, max_tokens=None, max_cost=None)


def _check(
    experiment: Experiment, member: Member, studies: list[Study | RatingStudy]
) -> Iterator[Fault]:
    """Yield a fault for each format, prompting, factor or level that none of the studies has."""
    settings = member.settings
    formats = [name for each in studies if isinstance(each, Study) for name in each.formats]
    promptings = [
        name for each in studies if isinstance(each, RatingStudy) for name in each.promptings
    ]
    factors = [name for each in studies for name in each.items[0].factors]
    for field, given, known in (
        ("formats", settings.formats or (), formats),
        ("promptings", settings.promptings or (), promptings),
        ("where", settings.where or {}, factors),
    ):
        for name in given:
            if name not in known:
                allowed = (
                    unknown(name, dict.fromkeys(known)) if known else "nothing, in these studies"
                )
                yield _fault(experiment, member, field, name, allowed)
    for name, level in (settings.where or {}).items():
        levels = {
            item.factors[name]: None
            for each in studies
            for item in each.items
            if name in item.factors
        }
        if levels and level not in levels:
            yield _fault(experiment, member, f"where.{name}", level, unknown(level, levels))


def _fault(experiment: Experiment, member: Member, field: str, got: str, allowed: str) -> Fault:
    return Fault(file=experiment.file.name, field=field, got=got, allowed=allowed, line=member.line)
