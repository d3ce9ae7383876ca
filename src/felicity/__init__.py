"""Felicity runs studies of language use on language models as they were run on people.

The public names are loaded when first used, so that ``import felicity`` stays light.

Examples
--------
>>> import felicity
>>> study = felicity.load_study("gricean-maxims")
>>> len(study.items)
2250
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from felicity.participants import open_participant
    from felicity.report import analyse
    from felicity.runner import read_run, run
    from felicity.study import list_studies, load_study

__version__ = "0.1.0"

_HOMES = {
    "load_study": "felicity.study",
    "list_studies": "felicity.study",
    "open_participant": "felicity.participants",
    "run": "felicity.runner",
    "read_run": "felicity.runner",
    "analyse": "felicity.report",
}

__all__ = [
    "__version__",
    "analyse",
    "list_studies",
    "load_study",
    "open_participant",
    "read_run",
    "run",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'felicity' has no attribute {name!r}")
    return getattr(import_module(home), name)
