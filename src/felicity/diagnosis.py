"""What `felicity doctor` looks at."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from felicity.cache import cache_folder
from felicity.errors import FelicityError
from felicity.participants.embedded import EMBEDDED, is_fetched
from felicity.study import list_studies, load_study

EXTRAS = {
    "torch": "local",
    "transformers": "local",
    "tokenizers": "local",
    "accelerate": "local",
    "gguf": "local",
    "inspect_ai": "api",
    "openai": "api",
    "wordfreq": "build",
    "statsmodels": "stats",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked at. ``needed`` is False where only some commands want it."""

    name: str
    ok: bool
    found: str
    hint: str = ""
    needed: bool = True


def diagnose() -> list[Check]:
    """Look at Python, packages, devices, cache, models and studies."""
    python = ".".join(map(str, sys.version_info[:3]))
    checks = [
        Check(name="Python", ok=sys.version_info >= (3, 11), found=python, hint="use 3.11 or newer")
    ]
    checks += [_package(name, extra) for name, extra in EXTRAS.items()]
    checks += [_devices(), _cache()]
    checks += [
        Check(
            name=f"embedded:{model.name}",
            ok=is_fetched(model),
            found="fetched" if is_fetched(model) else "not fetched",
            hint=f"felicity models --fetch {model.name}",
            needed=False,
        )
        for model in EMBEDDED.values()
    ]
    return checks + [_study(name) for name in list_studies()]


def _package(name: str, extra: str) -> Check:
    try:
        return Check(name=name, ok=True, found=version(name), needed=False)
    except PackageNotFoundError:
        return Check(
            name=name,
            ok=False,
            found="not installed",
            hint=f"pip install 'felicity[{extra}]'",
            needed=False,
        )


def _devices() -> Check:
    try:
        import torch
    except ImportError:
        hint = "pip install 'felicity[local]'"
        return Check(name="devices", ok=False, found="no torch", hint=hint, needed=False)
    found = [f"cpu ({torch.get_num_threads()} threads)"]
    if torch.cuda.is_available():
        found += [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    if torch.backends.mps.is_available():
        found.append("mps")
    return Check(name="devices", ok=True, found=", ".join(found))


def _cache() -> Check:
    folder = cache_folder()
    existing: Path = next(p for p in (folder, *folder.parents) if p.exists())
    free = shutil.disk_usage(existing).free / 2**30
    return Check(
        name="cache",
        ok=os.access(existing, os.W_OK) and free > 2,
        found=f"{folder} ({free:.0f} GiB free)",
        hint="set FELICITY_CACHE to a folder that can be written to, with 2 GiB free",
    )


def _study(name: str) -> Check:
    try:
        study = load_study(name)
    except FelicityError as error:
        return Check(name=name, ok=False, found=str(error), hint="reinstall felicity")
    return Check(name=name, ok=True, found=f"{len(study.items)} items")
