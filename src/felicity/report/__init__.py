"""From runs to tables: what a reader publishes."""

from felicity.report.analysis import Analysis, Cell, ParticipantResult, analyse
from felicity.report.files import write_report

__all__ = ["Analysis", "Cell", "ParticipantResult", "analyse", "write_report"]
