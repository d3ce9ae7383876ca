"""Checks of a set: each a figure, for all and for each maxim, and a list of what it finds."""

from felicity.build.checks.result import CheckResult, Value
from felicity.build.checks.table import run_checks, write_checks

__all__ = ["CheckResult", "Value", "run_checks", "write_checks"]
