"""From a set to a study: what was accepted, complete and sorted, with all that belongs to it."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from felicity.build.checks import run_checks, write_checks
from felicity.build.croissant import croissant
from felicity.build.datasheet import Facts, datasheet
from felicity.build.decisions import Decision, read_decisions
from felicity.build.folder import DIALOGUES, TEMPLATES, BuildFolder, read_build
from felicity.build.outcome import Outcome, decide
from felicity.build.provenance import decision_rows, provenance_rows, reply_rows
from felicity.build.study_file import study_file
from felicity.build.template import Template, render_templates
from felicity.build.wording import ORIGINAL, Wording, as_lines, sort_wordings
from felicity.errors import FelicityError, OptionError, RunError, one_of
from felicity.study import load_choice_study

TAKES = ("accepted", "not-rejected", "all")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A study that was written: its folder and files, how much is in it, what is to be noted."""

    folder: Path
    files: tuple[str, ...]
    dialogues: int
    items: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of a set goes into a study.

    Attributes
    ----------
    lines
        Sorted, wordings numbered from 0 without a gap.
    sources
        For each, its wording's label in the set.
    left_out
        Dialogue to why it is not in the study.
    """

    lines: tuple[Wording, ...]
    sources: tuple[str, ...]
    left_out: dict[str, str]


def export_study(
    name_or_path: str | Path, out: Path, *, take: str | None = None, run: Path | None = None
) -> Exported:
    """Write a study folder from a build folder.

    Parameters
    ----------
    name_or_path
        The build folder, or a built-in study that is one.
    out
        The study's folder; it must not be there, or be empty.
    take
        ``accepted``, ``not-rejected`` or ``all``; by default ``accepted`` once anybody has judged
        the set, and ``all`` before.
    run
        A scored run of the set, for the check on grammar.

    Raises
    ------
    FelicityError
        Where nothing can go into the study, or its folder is not empty.
    FaultsError
        Where the study would not be valid, with every fault.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_study("gricean-maxims", Path(folder) / "copy").items
    2250
    """
    build = read_build(name_or_path)
    decisions = read_decisions(build.folder)
    take = take or ("accepted" if decisions else "all")
    if take not in TAKES:
        raise OptionError(f'got "{take}"; expected {one_of(TAKES)}', where="--take")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FelicityError("it is there and not empty", where=str(out), hint="choose another")
    outcomes = decide(build.wordings, decisions)
    chosen = select_lines(build, outcomes, take)
    if not chosen.lines:
        reasons = Counter(chosen.left_out.values())
        why = "".join(f"\n  {count} dialogues: {reason}" for reason, count in reasons.items())
        raise FelicityError(
            f"no dialogue can go into the study{why}",
            where=str(build.folder),
            hint="`felicity build status` says what is missing; --take takes more",
        )
    kept = replace(
        build,
        wordings=chosen.lines,
        templates=_used_templates(build, chosen.lines),
    )
    scratch = out.with_name(f"{out.name}.unfinished")
    try:
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        notes = _write(scratch, build, kept, chosen, outcomes, decisions, take, run)
        study = load_choice_study(str(scratch))
        if out.exists():
            out.rmdir()
        scratch.rename(out)
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror}", where=str(out)) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Exported(
        folder=out,
        files=tuple(sorted(path.name for path in out.iterdir())),
        dialogues=len(kept.originals),
        items=len(study.items),
        notes=tuple(notes),
    )


def _used_templates(build: BuildFolder, lines: Sequence[Wording]) -> tuple[Template, ...]:
    """Return the templates of lines, in the order of lines."""
    known = {template.template_id: template for template in build.templates}
    order = dict.fromkeys(line.template_id for line in lines)
    return tuple(known[template_id] for template_id in order if template_id in known)


def select_lines(build: BuildFolder, outcomes: Sequence[Outcome], take: str) -> Selection:
    """Choose the dialogues that are complete among what may be taken, and number their wordings."""
    allowed = {
        "accepted": {"accepted", "edited"},
        "not-rejected": {"accepted", "edited", "undecided", "disputed"},
        "all": {"accepted", "edited", "undecided", "disputed", "rejected"},
    }[take]
    of_dialogue: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        of_dialogue.setdefault(outcome.line.dialogue_id, []).append(outcome)
    lines: list[tuple[Wording, str]] = []
    left_out: dict[str, str] = {}
    for dialogue_id, found in of_dialogue.items():
        good = [outcome for outcome in found if outcome.state in allowed]
        original = [outcome for outcome in good if outcome.line.wording == ORIGINAL]
        others = [outcome for outcome in good if outcome.line.wording != ORIGINAL]
        if not original:
            state = next(o.state for o in found if o.line.wording == ORIGINAL)
            left_out[dialogue_id] = f"the dialogue is {state}"
        elif len(others) < build.plan.rewordings:
            left_out[dialogue_id] = (
                f"{len(others)} rewordings that can be taken, not {build.plan.rewordings}"
            )
        else:
            wanted = [*original, *others[: build.plan.rewordings]]
            for number, outcome in enumerate(wanted):
                label = outcome.line.wording
                lines.append((replace(outcome.line, wording=str(number)), label))
    label_of = {(line.dialogue_id, line.wording): label for line, label in lines}
    ordered = sort_wordings((line for line, _ in lines), build.plan.maxim_keys)
    return Selection(
        lines=tuple(ordered),
        sources=tuple(label_of[line.dialogue_id, line.wording] for line in ordered),
        left_out=left_out,
    )


def _write(
    out: Path,
    build: BuildFolder,
    kept: BuildFolder,
    chosen: Selection,
    outcomes: Sequence[Outcome],
    decisions: Sequence[Decision],
    take: str,
    run: Path | None,
) -> list[str]:
    """Write every file; return what is to be noted."""
    results = run_checks(kept, run)
    facts = Facts(
        build=build,
        kept=kept,
        left_out=chosen.left_out,
        outcomes=tuple(outcomes),
        decisions=tuple(decisions),
        results=tuple(results),
        take=take,
    )
    texts = {
        DIALOGUES: as_lines(line.as_row() for line in kept.wordings),
        "study.toml": study_file(kept),
        "asked.txt": build.plan.language.prompts["asked"] + "\n",
        "provenance.jsonl": as_lines(provenance_rows(build, kept, chosen.sources)),
        # Written by hand, a datasheet stays as it is; the figures then stand beside it.
        "datasheet.md" if "README.md" in build.plan.files else "README.md": datasheet(facts),
    }
    if kept.templates:
        # Who made them is in provenance.jsonl.
        templates = [replace(template, made=None) for template in kept.templates]
        texts[TEMPLATES] = build.head + render_templates(templates)
    replies, judged = reply_rows(build), decision_rows(decisions)
    texts |= {"replies.jsonl": as_lines(replies)} if replies else {}
    texts |= {"decisions.jsonl": as_lines(judged)} if judged else {}
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")
    for name in build.plan.files:
        shutil.copyfile(build.folder / name, out / name)
    write_checks(out, results, kept.plan.maxim_keys)
    (out / "croissant.json").write_text(croissant(kept, out), encoding="utf-8", newline="\n")
    return _notes(facts)


def _notes(facts: Facts) -> list[str]:
    notes = []
    reasons = Counter(facts.left_out.values())
    notes += [f"{count} dialogues left out: {reason}" for reason, count in reasons.items()]
    counts = Counter(line.maxim for line in facts.kept.originals)
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{key} {count}" for key, count in counts.items())
        notes.append(f"the maxims have unequal numbers of dialogues: {listed}")
    flagged = sum(len(result.flagged) for result in facts.results)
    if flagged:
        notes.append(f"the checks have {flagged} findings (findings.csv)")
    if not facts.decisions and facts.build.plan.made is None:
        notes.append("nobody has judged these dialogues")
    return notes
