"""Experiment files: many models, checkpoints and studies in one TOML file."""

from felicity.experiment.definition import Experiment
from felicity.experiment.reader import is_experiment, read_experiment
from felicity.experiment.sitting import run_experiment
from felicity.experiment.state import TaskState, read_states
from felicity.experiment.tasks import Task, plan_tasks

__all__ = [
    "Experiment",
    "Task",
    "TaskState",
    "is_experiment",
    "plan_tasks",
    "read_experiment",
    "read_states",
    "run_experiment",
]
