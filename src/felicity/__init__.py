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
    from felicity.api import analyse, read_run, run, write_report
    from felicity.api.experiment_reports import write_experiment_reports
    from felicity.api.experiments import read_experiment_runs, run_experiment
    from felicity.interop import export_study, import_scores, import_study
    from felicity.participants import open_participant
    from felicity.study import list_studies, load_study

__version__ = "0.1.0"

_HOMES = {
    "load_study": "felicity.study",
    "list_studies": "felicity.study",
    "open_participant": "felicity.participants",
    "run": "felicity.api",
    "read_run": "felicity.api",
    "analyse": "felicity.api",
    "write_report": "felicity.api",
    "run_experiment": "felicity.api.experiments",
    "read_experiment_runs": "felicity.api.experiments",
    "write_experiment_reports": "felicity.api.experiment_reports",
    "export_study": "felicity.interop",
    "import_scores": "felicity.interop",
    "import_study": "felicity.interop",
}

__all__ = [
    "__version__",
    "analyse",
    "export_study",
    "import_scores",
    "import_study",
    "list_studies",
    "load_study",
    "open_participant",
    "read_experiment_runs",
    "read_run",
    "run",
    "run_experiment",
    "write_experiment_reports",
    "write_report",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'felicity' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
