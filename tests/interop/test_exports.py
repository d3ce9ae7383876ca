"""Exports, read back as the tools that they are for read them."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import subprocess
import sys

import pytest

from felicity import load_study
from felicity.cli import main
from felicity.errors import OptionError, RunError
from felicity.interop import EXPORTS, export_study

from study_folders import write_study

NAMES = {"wording": "0", "questioner": "Leslie", "responder": "Joan"}


@pytest.fixture
def third(tmp_path):
    """A study that no code knows."""
    return load_study(write_study(tmp_path / "study"))


def read_jsonl(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_an_lm_eval_row_holds_the_very_texts_that_we_score(third, tmp_path):
    export_study(third, "lm-eval", tmp_path / "out")
    written = read_jsonl(tmp_path / "out" / "items.jsonl")
    trials = third.trials(third.format())
    assert [row["context"] + answer for row in written for answer in row["choices"]] == [
        trial.pair.context + trial.pair.answer for trial in trials
    ]
    group = (tmp_path / "out" / "felicity_some_not_all.yaml").read_text()
    assert "  - felicity_some_not_all_all\n  - felicity_some_not_all_and\n" in group


def test_the_reader_beside_an_lm_eval_task_finds_its_rows_wherever_the_folder_is(third, tmp_path):
    export_study(third, "lm-eval", tmp_path / "out")
    moved = shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    spec = importlib.util.spec_from_file_location("reader", f"{moved}/felicity_items.py")
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    rows = reader.read_level(level="and", version=1.0)["test"]
    assert len(rows) == 4
    assert set(rows["level"]) == {"and"}
    assert rows[0]["choices"] == [" Beans and peas.", " Beans or peas."]


def test_babylm_rows_come_out_of_its_ewok_reader_as_our_texts(gricean, tmp_path):
    export_study(gricean, "babylm", tmp_path, where=NAMES)
    (folder,) = tmp_path.iterdir()
    texts, by_domain = [], {}
    # As the pipeline reads: every JSONL file of the folder, a space between context and target,
    # completions with that space, results by Domain.
    for file in folder.iterdir():
        assert file.suffix == ".jsonl"
        for row in read_jsonl(file):
            for target in ("Target1", "Target2"):
                texts.append(" ".join([row["Context1"], row[target]]))
                assert texts[-1].endswith(" " + row[target])
            assert row["Context1"] == row["Context2"]
            assert all(row[name] for name in ("ContextType", "ContextDiff", "TargetDiff"))
            by_domain[row["Domain"]] = by_domain.get(row["Domain"], 0) + 1
    trials = gricean.trials(gricean.format(), gricean.select(NAMES))
    assert texts == [trial.pair.context + trial.pair.answer for trial in trials]
    assert by_domain == dict.fromkeys(gricean.design.level_keys, 25)


def test_a_format_that_the_babylm_pipeline_cannot_join_is_refused(gricean, tmp_path):
    with pytest.raises(OptionError, match="expected one space between") as caught:
        export_study(gricean, "babylm", tmp_path, format="named-answer")
    assert "format named-answer, quantity_1-01-1-w0-Leslie-Joan" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_csv_has_the_columns_of_the_papers_script(gricean, tmp_path):
    (file,) = export_study(gricean, "csv", tmp_path, where=NAMES)
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0])[:4] == ["question", "follower", "violator", "maxim"]
    assert [row["item_id"] for row in rows] == [i.item_id for i in gricean.select(NAMES)]
    assert rows[0]["follower"] == gricean.items[0].answers["follower"]


def test_datasets_loads_the_folder(gricean, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    export_study(gricean, "hf", tmp_path / "hf", where=NAMES)
    loaded = datasets.load_dataset(str(tmp_path / "hf"), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == {"test"}
    row = loaded["test"][0]
    assert row["context"] + row["choices"][row["gold"]] == (
        gricean.trials(gricean.format(), gricean.select(NAMES))[0].pair.context
        + " "
        + row["follower"]
    )
    card = (tmp_path / "hf" / "README.md").read_text()
    assert card.startswith("---\nlicense: cc-by-4.0\nlanguage:\n- en\n")
    assert "# Datasheet: gricean-maxims" in card


INSPECT = """
import json, sys
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
replies = json.loads(sys.argv[2])
def outputs():
    while True:
        for reply in replies:
            output = ModelOutput.from_content("mockllm/model", reply)
            # Without it inspect_ai fetches a tokenizer to count.
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
            yield output
log = eval(sys.argv[1], model=get_model("mockllm/model", custom_outputs=outputs()),
           display="none", log_dir=sys.argv[3], max_samples=1)[0]
assert log.status == "success", log.error
scores = [(s.id, s.epoch, s.scores["{scorer}"].value, s.scores["{scorer}"].answer)
          for s in log.samples]
print(json.dumps({{"scores": scores, "samples": len(log.samples)}}))
"""


def run_inspect(task, scorer, replies, folder):
    done = subprocess.run(
        [sys.executable, "-c", INSPECT.format(scorer=scorer), task.name, json.dumps(replies),
         str(folder / "logs")],
        capture_output=True, text=True, check=False, cwd=task.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_inspect_runs_the_asked_task_and_reads_replies_as_we_do(gricean, tmp_path):
    export_study(gricean, "inspect", tmp_path / "out", where={**NAMES, "maxim": "quality"}, limit=3)
    samples = read_jsonl(tmp_path / "out" / "samples.jsonl")
    assert [s["target"] for s in samples] == ["B", "A"] * 3
    task = tmp_path / "out" / "gricean_maxims_asked.py"
    told = run_inspect(task, "pick", ["The silly one is B."], tmp_path)
    assert told["samples"] == 6
    assert {name: value for name, _, value, _ in told["scores"]} == {
        s["id"]: "C" if s["target"] == "B" else "I" for s in samples
    }
    silent = run_inspect(task, "pick", ["I cannot say which."], tmp_path)
    assert all(value == "I" and answer != "B" for _, _, value, answer in silent["scores"])


def test_inspect_runs_the_sampled_task_of_a_rating_study(tmp_path):
    export_study("social-meaning", "inspect", tmp_path / "out", limit=1)
    samples = read_jsonl(tmp_path / "out" / "samples.jsonl")
    assert [s["metadata"]["prompting"] for s in samples] == ["MIN", "ALT", "KMA", "COM"]
    task = tmp_path / "out" / "social_meaning_sampled.py"
    told = run_inspect(task, "rating", ["On a scale of 1 to 7, I'd rate this a 5."], tmp_path)
    assert told["samples"] == 4 * load_study("social-meaning").repeats
    assert {value for *_, value, _ in told["scores"]} == {5.0}


@pytest.mark.parametrize("kind", EXPORTS)
def test_nothing_is_written_over(gricean, kind, tmp_path):
    first = export_study(gricean, kind, tmp_path, limit=2)
    before = {file: file.read_bytes() for file in first}
    with pytest.raises(RunError, match="there already"):
        export_study(gricean, kind, tmp_path, limit=3)
    assert {file: file.read_bytes() for file in first} == before


def test_what_cannot_be_exported_is_said(third, tmp_path):
    with pytest.raises(OptionError, match='got "bibtex"; expected one of lm-eval, babylm'):
        export_study(third, "bibtex", tmp_path)
    with pytest.raises(OptionError, match='got "csv" of a rating study; expected inspect'):
        export_study("social-meaning", "csv", tmp_path)
    with pytest.raises(OptionError, match="no question to ask"):
        export_study(third, "inspect", tmp_path)


def test_the_command_line_says_what_it_wrote(tmp_path, capsys):
    with pytest.raises(SystemExit) as done:
        main(
            ["export", "gricean-maxims", "--format", "csv", "--out", f"{tmp_path}", "--limit", "1"]
        )
    assert done.value.code == 0
    assert capsys.readouterr().out == f"{tmp_path / 'gricean_maxims.csv'}\n"
