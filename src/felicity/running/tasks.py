"""Run a task of an experiment: its settings as the options of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from felicity.experiment import Task
from felicity.running.kept import Kept
from felicity.running.options import RunOptions
from felicity.study import Study


def task_runner(kept: Kept) -> Callable[[Task], str]:
    """Return what runs one task and says why it ended early."""

    def run_task(task: Task) -> str:
        summary = _prepare(task, _options(task), kept)(task.member.spec)
        if summary["complete"]:
            return ""
        stopped = summary.get("stopped")
        answered = f"{summary['responses']} of {summary['asked']} asked"
        return f"stopped: {stopped}" if stopped else f"some requests failed ({answered})"

    return run_task


def _prepare(task: Task, options: RunOptions, kept: Kept) -> Callable[[str], dict[str, Any]]:
    if not isinstance(task.study, Study):
        from felicity.running import rated

        return rated.prepare(task.study, options)
    if task.method == "asked":
        from felicity.running import asked

        return asked.prepare(task.study, options)
    from felicity.running import scored

    return scored.prepare(task.study, options, kept)


def _options(task: Task) -> RunOptions:
    """Return a task's settings as the options of `felicity run`."""
    said = task.settings
    return RunOptions(
        out=task.folder.parent,
        folder=task.folder,
        method=task.method,
        where=said.where or {},
        limit=said.limit,
        device=said.device or "auto",
        device_map=said.device_map,
        dtype=said.dtype or "float32",
        dtype_sample=200 if said.dtype_sample is None else said.dtype_sample,
        threads=said.threads,
        trust_remote_code=bool(said.trust_remote_code),
        format=task.format,
        prefix=said.prefix or "auto",
        batch_tokens=said.batch_tokens,
        promptings=said.promptings,
        repeats=said.repeats,
        presentation=said.presentation,
        order=said.order or "fixed",
        seed=said.seed or 0,
        temperature=said.temperature,
        max_tokens=said.max_tokens,
        max_connections=said.max_connections,
        smoke=3 if said.smoke is None else said.smoke,
        price_in=said.price_in,
        price_out=said.price_out,
        max_cost=said.max_cost,
        dry_run=False,
    )
