"""Read the section ``[survey]`` of study.toml: how the study is put to people."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from felicity.errors import one_of
from felicity.folder_reader import FolderReader

Layout = Literal["between", "within"]
LAYOUTS: tuple[Layout, ...] = ("between", "within")
KEYS = {"choice": ("question", "pick"), "rating": ("question", "layout", "prompting")}
TOML = "study.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyTask:
    """How a study is put to people.

    Attributes
    ----------
    question
        What is asked of each dialogue, or of each attribute; empty for the survey's own words. It
        may name columns of the items as ``{column}``.
    pick
        Choice: the label of the answer that the question asks for; empty for the first.
    layout
        Rating: ``between`` shows a participant one cell of each scenario, ``within`` all.
    prompting
        Rating: whose blocks the instructions and scenes are taken from; empty for the first.
    """

    question: str = ""
    pick: str = ""
    layout: Layout = "between"
    prompting: str = ""


def read_survey_task(
    reader: FolderReader,
    table: Mapping[str, Any],
    *,
    paradigm: Literal["choice", "rating"],
    columns: Collection[str],
    answers: Collection[str] = (),
    promptings: Collection[str] = (),
) -> SurveyTask:
    """Read the section and note every fault of it; a study without one gets the defaults.

    Parameters
    ----------
    columns
        What the question may name of an item; not checked where empty (the items have faults).
    answers, promptings
        The study's answer labels, or its promptings.
    """
    from felicity.study import PLACEHOLDER

    section = table.get("survey")
    if section is None:
        return SurveyTask()
    if not isinstance(section, dict):
        reader.fault(TOML, "survey", section, "a table")
        return SurveyTask()
    for key in section:
        if key not in KEYS[paradigm]:
            reader.fault(TOML, f"survey.{key}", "a key", one_of(KEYS[paradigm]))
    question = reader.get(table, "survey.question", str, "")
    for name in PLACEHOLDER.findall(question) if columns else ():
        if name not in columns:
            allowed = one_of(f"{{{column}}}" for column in sorted(columns))
            reader.fault(TOML, "survey.question", f"{{{name}}}", allowed)
    pick = _among(reader, table, "survey.pick", answers)
    prompting = _among(reader, table, "survey.prompting", promptings)
    layout = reader.get(table, "survey.layout", str, "between")
    if layout not in LAYOUTS:
        reader.fault(TOML, "survey.layout", layout, one_of(LAYOUTS))
    return SurveyTask(question=question, pick=pick, layout=layout, prompting=prompting)


def _among(
    reader: FolderReader, table: Mapping[str, Any], path: str, allowed: Collection[str]
) -> str:
    value: str = reader.get(table, path, str, "")
    if value and allowed and value not in allowed:
        reader.fault(TOML, path, value, one_of(allowed))
    return value
