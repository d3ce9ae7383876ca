"""The public calls: run, read, analyse, report, whatever the study and the model."""

from felicity.api.reports import analyse, read_run, write_report
from felicity.api.runs import run

__all__ = ["analyse", "read_run", "run", "write_report"]
