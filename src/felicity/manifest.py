"""run.json: what a run is, so that a folder is never mixed from two."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from felicity.errors import RunError
from felicity.rating.study import RatingStudy
from felicity.study import BUILT_IN, Format, Study, load_choice_study
from felicity.types import ParticipantInfo

PACKAGES = (
    "felicity",
    "torch",
    "transformers",
    "tokenizers",
    "inspect_ai",
    "openai",
    "anthropic",
    "google-genai",
    "numpy",
    "scipy",
    "polars",
    "ray",
)
# What must not differ when a run goes on, with the words a user knows it by.
IDENTITY = {
    "study": "study",
    "data_hash": "data",
    "format": "format",
    "method": "method",
    "prefix": "prefix",
    "dtype": "dtype",
    "weights_fingerprint": "model weights",
    "tokenizer_fingerprint": "tokenizer",
}


def describe_run(study: Study, fmt: Format, info: ParticipantInfo) -> dict[str, Any]:
    """Return the manifest of a run: study, data, format, participant."""
    return {
        "felicity_run": 1,
        "paradigm": "choice",
        **describe_study(study),
        "format": describe_format(fmt),
        "participant": asdict(info),
        "seed": None,
        "sessions": [],
    }


def describe_format(fmt: Format) -> dict[str, str]:
    """Return what a manifest says of a format: its name and its texts."""
    return asdict(fmt)


def describe_study(study: Study | RatingStudy) -> dict[str, Any]:
    """Return what a manifest says of a study; a built-in one is found by name, others by folder."""
    return {
        "study": study.name,
        "study_version": study.version,
        "study_folder": None if study.folder.parent == BUILT_IN else str(study.folder.resolve()),
        "data_hash": study.data_hash,
    }


def study_of_run(folder: Path, manifest: Mapping[str, Any], study: Study | None = None) -> Study:
    """Return the choice study that a run is of, found by the manifest where it is not given.

    Raises
    ------
    RunError
        Where the study's items are not those that were run.
    """
    if study is None:
        study = load_choice_study(manifest["study_folder"] or manifest["study"])
    if study.data_hash != manifest["data_hash"]:
        raise RunError(
            f"data: got {study.data_hash}; expected {manifest['data_hash']}",
            where=str(folder),
            hint="the study's items have changed since this run; run it again in a new folder",
        )
    return study


def own_versions() -> dict[str, str]:
    """Return the versions of Python and Felicity alone, where nothing else had a part."""
    return {"python": platform.python_version(), "felicity": version("felicity")}


def session() -> dict[str, Any]:
    """Describe the software and machine of one sitting."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    torch = sys.modules.get("torch")
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions,
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "processors": os.cpu_count(),
            "torch_threads": torch.get_num_threads() if torch else None,
        },
    }


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a run folder's manifest.

    Raises
    ------
    RunError
        Where the folder is no run.
    """
    path = folder / "run.json"
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(
            "no run.json here; expected a run folder",
            where=str(folder),
            hint="`felicity run` makes one",
        ) from None
    except (OSError, ValueError) as error:
        raise RunError(f"cannot be read: {error}", where=str(path)) from error
    return manifest


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a run folder's manifest, whole or not at all."""
    path = folder / "run.json"
    scratch = path.with_suffix(".json.tmp")
    try:
        scratch.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", "utf-8")
        scratch.replace(path)
    except OSError as error:
        raise RunError(
            f"cannot be written: {error.strerror}",
            where=str(path),
            hint="choose a folder that can be written to, or make room",
        ) from error


def claim_folder(
    folder: Path, manifest: dict[str, Any], identity: Mapping[str, str] = IDENTITY
) -> dict[str, Any]:
    """Make the run folder, or find in it the same run; return the manifest that holds.

    Raises
    ------
    RunError
        Where it cannot be made, or holds another run or something else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"cannot be made: {error.strerror}", where=str(folder), hint="choose another with --out"
        ) from error
    if (folder / "run.json").exists():
        old = read_manifest(folder)
        found = differences(old, manifest, identity)
        if found:
            raise RunError(
                "this folder holds another run\n  " + "\n  ".join(found),
                where=str(folder),
                hint="choose another folder with --out",
            )
        return old
    if any(folder.iterdir()):
        raise RunError(
            "this folder is not empty and holds no run",
            where=str(folder),
            hint="choose another folder with --out",
        )
    write_manifest(folder, manifest)
    return manifest


def differences(
    old: dict[str, Any], new: dict[str, Any], identity: Mapping[str, str] = IDENTITY
) -> list[str]:
    """Say in words what differs between two manifests that must not.

    Examples
    --------
    >>> differences({"study": "a", "participant": {"method": "logprob"}},
    ...             {"study": "b", "participant": {"method": "logprob"}})
    ['study: got b; expected a']
    """
    found = []
    for key, word in identity.items():
        before, after = (m.get(key, m["participant"].get(key)) for m in (old, new))
        if before != after:
            found.append(f"{word}: got {_short(after)}; expected {_short(before)}")
    return found


def _short(value: Any) -> str:
    return str(value["name"] if isinstance(value, dict) and "name" in value else value)
