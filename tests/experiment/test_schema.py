"""The published schema says what the reader says."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import jsonschema
import pytest

from felicity.errors import FaultsError
from felicity.experiment import read_experiment
from felicity.experiment.definition import ReportSettings, Settings
from felicity.experiment.keys import REPORT, SETTINGS
from felicity.experiment.schema import experiment_schema

from experiment_files import write_experiment

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
VALIDATOR = jsonschema.Draft202012Validator(experiment_schema())
GROUP = '[[group]]\nname = "g"\nmodels = ["hf:org/model"]\n'


def test_the_schema_itself_is_one_and_the_committed_file_is_fresh():
    VALIDATOR.check_schema(experiment_schema())
    committed = json.loads((ROOT / "docs" / "experiment.schema.json").read_text("utf-8"))
    assert committed == experiment_schema()
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_schema.py", "--check"])
    assert done.returncode == 0


def test_keys_and_values_have_the_same_names():
    assert [key.name for key in SETTINGS] == [field.name for field in fields(Settings)]
    assert {key.name for key in REPORT} == {field.name for field in fields(ReportSettings)}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_valid_and_point_to_the_schema(example):
    text = example.read_text(encoding="utf-8")
    assert list(VALIDATOR.iter_errors(tomllib.loads(text))) == []
    first = text.splitlines()[0]
    assert first.startswith("#:schema ")
    assert (example.parent / first.removeprefix("#:schema ")).resolve().is_file()


@pytest.mark.parametrize(
    ("body", "good"),
    [
        (GROUP, True),
        (GROUP + 'methods = ["logprob", "asked"]\nwhere = { asker = "Ann" }\nlimit = 1\n', True),
        (GROUP.replace('"hf:org/model"', '{ id = "hf:org/model", label = "M" }'), True),
        (GROUP + "[report]\nseed = 3\nas_published = true\n", True),
        ("", False),
        (GROUP + "limits = 1\n", False),
        (GROUP + "limit = 0\n", False),
        (GROUP + "limit = 1.5\n", False),
        (GROUP + "limit = true\n", False),
        (GROUP + 'trust_remote_code = "yes"\n', False),
        (GROUP + "methods = []\n", False),
        (GROUP + 'methods = ["asked", "asked"]\n', False),
        (GROUP + 'dtype = "float64"\n', False),
        (GROUP + "where = {}\n", False),
        (GROUP + "temperature = -1\n", False),
        (GROUP.replace('"g"', '"a/b"'), False),
        (GROUP.replace('["hf:org/model"]', "[]"), False),
        (GROUP.replace('"hf:org/model"', '{ label = "M" }'), False),
        (GROUP.replace('"hf:org/model"', '{ id = "hf:a/b", checkpoints = "c*" }'), False),
        (GROUP + "[report]\nscores = 1\n", False),
    ],
)
def test_schema_and_reader_agree(tmp_path, body, good):
    file = write_experiment(tmp_path, body)
    assert VALIDATOR.is_valid(tomllib.loads(file.read_text())) is good
    if good:
        read_experiment(file)
    else:
        with pytest.raises(FaultsError):
            read_experiment(file)
