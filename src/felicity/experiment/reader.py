"""Read an experiment file and find every fault in it."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from felicity.errors import Fault, FaultsError, ModelError
from felicity.experiment.checkpoints import words_seen
from felicity.experiment.definition import Experiment, Group, Member, ReportSettings, Settings
from felicity.experiment.keys import EXPERIMENT, GROUP, MODEL, REPORT, SETTINGS, TOP
from felicity.experiment.toml_reader import Place, TomlReader, unknown
from felicity.participants.spec import parse_spec
from felicity.study import list_studies


def is_experiment(path: Path) -> bool:
    """Say whether a path is taken for an experiment file: a ``.toml`` that is no study's.

    Examples
    --------
    >>> is_experiment(Path("babylm.toml")), is_experiment(Path("my-study/study.toml"))
    (True, False)
    """
    return path.suffix == ".toml" and path.name != "study.toml"


def read_experiment(file: Path | str) -> Experiment:
    """Read an experiment file.

    Raises
    ------
    FaultsError
        With every fault of the file, and the line of each.
    """
    reader = _Reader(Path(file))
    found = reader.read()
    if found is None or reader.faults:
        raise FaultsError(
            sorted(reader.faults, key=lambda fault: fault.line or 0),
            where=str(file),
            hint="docs/experiments.md shows every key",
        )
    return found


class _Reader(TomlReader):
    """An experiment file in the making."""

    def read(self) -> Experiment | None:
        """Return the experiment, or None; its faults are noted."""
        table = self.load()
        if table is None:
            return None
        self.home = self.file.resolve().parent
        self.table(table, (), (), TOP)
        for name in ("experiment", "group"):
            if name not in table:
                self.fault((), "nothing", f"a table [{name}]", field=name)
        told = self.table(table.get("experiment", {}), ("experiment",), EXPERIMENT)
        settings = Settings(**self.table(table.get("settings", {}), ("settings",), SETTINGS))
        report = self.table(table.get("report", {}), ("report",), REPORT)
        studies = self._studies(table.get("experiment"))
        groups = self._groups(table.get("group", []), settings, studies)
        self._folders(groups)
        if self.faults:
            return None
        out = self.home / told.get("out", f"runs/{told['name']}")
        reports = self.home / report.pop("out") if "out" in report else out / "report"
        return Experiment(
            file=self.file,
            name=told["name"],
            title=told.get("title", told["name"]),
            studies=tuple(studies.values()),
            out=out,
            groups=groups,
            report=ReportSettings(out=reports, **report),
        )

    def _studies(self, told: object) -> dict[str, str]:
        """Map each study as written to its built-in name or absolute folder."""
        names = told.get("studies") if isinstance(told, dict) else None
        found = {}
        for number, name in enumerate(names if isinstance(names, list) else ()):
            if name in list_studies():
                found[name] = name
            elif isinstance(name, str) and (self.home / name).expanduser().is_dir():
                found[name] = str((self.home / name).resolve())
            elif isinstance(name, str):
                self.fault(
                    ("experiment", "studies", number),
                    name,
                    f"{unknown(name, list_studies())}, or a folder beside this file",
                )
        return found

    def _groups(
        self, tables: object, settings: Settings, studies: Mapping[str, str]
    ) -> tuple[Group, ...]:
        if not isinstance(tables, list) or not tables:
            self.fault(("group",), tables, "tables [[group]]")
            return ()
        groups: list[Group] = []
        for number, table in enumerate(tables):
            place: Place = ("group", number)
            told = self.table(table, place, (*GROUP, *SETTINGS), ("models",))
            own = {key: told[key] for key in told if key in Settings.__dataclass_fields__}
            chosen = self._subset(told.get("studies"), (*place, "studies"), studies)
            members = self._members(table, place, settings.under(Settings(**own)))
            name = told.get("name", "")
            if any(group.name == name for group in groups):
                self.fault((*place, "name"), name, "each name once")
            groups.append(
                Group(name=name, title=told.get("title", name), studies=chosen, members=members)
            )
        return tuple(groups)

    def _subset(
        self, names: tuple[str, ...] | None, place: Place, studies: Mapping[str, str]
    ) -> tuple[str, ...] | None:
        if names is None:
            return None
        for number, name in enumerate(names):
            if name not in studies:
                self.fault((*place, number), name, unknown(name, studies))
        return tuple(studies[name] for name in names if name in studies)

    def _members(self, table: object, place: Place, settings: Settings) -> tuple[Member, ...]:
        models = table.get("models") if isinstance(table, dict) else None
        place = (*place, "models")
        if not isinstance(models, list) or not models:
            self.fault(place, models or "nothing", "a list of models")
            return ()
        members: list[Member] = []
        for number, model in enumerate(models):
            here = (*place, number)
            if isinstance(model, str):
                members += self._member({"id": model}, here, settings)
            elif isinstance(model, dict):
                told = self.table(model, here, (*MODEL, *SETTINGS))
                own = {key: told[key] for key in told if key in Settings.__dataclass_fields__}
                if len(told) == len(model):
                    members += self._member(told, here, settings.under(Settings(**own)))
            else:
                self.fault(here, model, "a model's id, or a table with one")
        return tuple(members)

    def _member(self, told: Mapping[str, Any], place: Place, settings: Settings) -> list[Member]:
        """Return a model, or every checkpoint of one."""
        if ("id" in told) == ("checkpoints" in told):
            got = "both" if "id" in told else "nothing"
            self.fault(place, got, "either id or checkpoints")
            return []
        if "checkpoints" in told:
            return self._checkpoints(told, place, settings)
        spec = self._spec(told["id"], (*place, "id") if len(told) > 1 else place)
        if spec is None:
            return []
        if "revisions" not in told:
            return [self._make(told, place, settings, spec, None, None)]
        if parse_spec(spec).kind != "hf" or parse_spec(spec).revision or _is_path(spec):
            self.fault((*place, "id"), spec, "a hub id without @REVISION, where it has revisions")
            return []
        words = self._words_told(told, place, told["revisions"])
        return [
            self._make(told, place, settings, f"{spec}@{revision}", revision, words[revision])
            for revision in told["revisions"]
        ]

    def _checkpoints(
        self, told: Mapping[str, Any], place: Place, settings: Settings
    ) -> list[Member]:
        pattern = told["checkpoints"].removeprefix("hf:")
        if "revisions" in told:
            self.fault((*place, "revisions"), told["revisions"], "nothing beside checkpoints")
        path = Path(pattern).expanduser()
        root = Path(path.anchor) if path.is_absolute() else self.home
        inner = str(path.relative_to(path.anchor)) if path.is_absolute() else str(path)
        folders = sorted((p for p in root.glob(inner) if p.is_dir()), key=lambda p: p.name)
        if not folders:
            self.fault((*place, "checkpoints"), told["checkpoints"], "a pattern that folders match")
        words = self._words_told(told, place, [folder.name for folder in folders])
        folders.sort(key=lambda p: (words[p.name] is None, words[p.name] or 0))
        return [
            self._make(
                {"label": folder.parent.name, **told},
                place,
                settings,
                f"hf:{folder.resolve()}",
                folder.name,
                words[folder.name],
            )
            for folder in folders
        ]

    def _make(
        self,
        told: Mapping[str, Any],
        place: Place,
        settings: Settings,
        spec: str,
        checkpoint: str | None,
        words: int | None,
    ) -> Member:
        label, parsed = told.get("label"), parse_spec(spec)
        base = parse_spec(told["id"]).label if checkpoint and "id" in told else parsed.label
        series = (label or base) if checkpoint is not None else None
        named = f"{label}@{checkpoint}" if label and checkpoint else label
        return Member(
            spec=spec,
            label=f"{series}@{checkpoint}" if series else label,
            folder=_slug(named or (parsed.label if _is_path(spec) else parsed.slug)),
            series=series,
            checkpoint=checkpoint,
            words=words,
            settings=settings,
            line=self.line(place),
        )

    def _spec(self, text: str, place: Place) -> str | None:
        """Check a model's name; make a local folder absolute, beside this file."""
        try:
            parsed = parse_spec(text)
        except ModelError as error:
            self.fault(place, text, error.message.partition("expected ")[2])
            return None
        if parsed.kind != "hf":
            return text
        rest = text.removeprefix("hf:")
        path = self.home / Path(rest).expanduser()
        return f"hf:{path.resolve()}" if _is_path(text) or path.exists() else text

    def _words_told(
        self, told: Mapping[str, Any], place: Place, names: list[str] | tuple[str, ...]
    ) -> dict[str, int | None]:
        """Find the words seen by each checkpoint: in the table, the file, or its name."""
        table = dict(told.get("words", {}))
        for name in table:
            if name not in names:
                self.fault((*place, "words", name), name, unknown(name, names))
        if "words_file" in told:
            table |= self._words_file(told["words_file"], (*place, "words_file"))
        per_step = told.get("words_per_step")
        return {name: table.get(name, words_seen(name, per_step)) for name in names}

    def _words_file(self, name: str, place: Place) -> dict[str, int]:
        found = {}
        try:
            with (self.home / name).open(encoding="utf-8-sig", newline="") as stream:
                for row in csv.DictReader(stream):
                    checkpoint, words = row.get("checkpoint"), row.get("words") or ""
                    if not checkpoint or not words.isdecimal() or int(words) < 1:
                        got = ",".join(str(value) for value in row.values())
                        self.fault(place, got, f"checkpoint and words in each row of {name}")
                    else:
                        found[checkpoint] = int(words)
        except (OSError, UnicodeDecodeError) as error:
            self.fault(place, f"{name}: {error}", "a CSV file that can be read")
        return found

    def _folders(self, groups: tuple[Group, ...]) -> None:
        """Refuse two models whose runs would lie in one folder."""
        seen: dict[str, Member] = {}
        for group in groups:
            for member in group.members:
                other = seen.setdefault(member.folder, member)
                if (other.spec, other.settings) != (member.spec, member.settings):
                    self.faults.append(
                        Fault(
                            file=self.file.name,
                            field="label",
                            got=f"{member.folder} (also on line {other.line})",
                            allowed="a label of its own, where model or settings differ",
                            line=member.line,
                        )
                    )


def _is_path(spec: str) -> bool:
    rest = spec.removeprefix("hf:")
    return rest.startswith(("/", "./", "../", "~")) or rest in (".", "..")


def _slug(label: str) -> str:
    return re.sub(r"[^\w.@-]+", "-", label).strip("-.")
