"""What an experiment file may say, and what is said of one that says something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from felicity.errors import FaultsError
from felicity.experiment import plan_tasks, read_experiment
from felicity.experiment.checkpoints import words_seen

from experiment_files import write_experiment

ONE = '[[group]]\nname = "g"\nmodels = ["hf:org/model"]\n'


def faults(file: Path) -> list[str]:
    with pytest.raises(FaultsError) as caught:
        plan_tasks(read_experiment(file))
    return [str(fault) for fault in caught.value.faults]


def test_a_nearer_setting_comes_first(tmp_path):
    file = write_experiment(
        tmp_path,
        '[settings]\nlimit = 1\nseed = 1\ndtype = "bfloat16"\n'
        '[[group]]\nname = "g"\ntitle = "G"\nlimit = 2\nseed = 2\n'
        'models = ["hf:a/b", { id = "hf:c/d", limit = 3, trust_remote_code = true }]\n',
    )
    group = read_experiment(file).groups[0]
    said = [(m.settings.limit, m.settings.seed, m.settings.dtype) for m in group.members]
    assert said == [(2, 2, "bfloat16"), (3, 2, "bfloat16")]
    assert [m.settings.trust_remote_code for m in group.members] == [None, True]
    assert (group.title, group.members[1].line) == ("G", 14)


def test_paths_are_those_beside_the_file(tmp_path, monkeypatch):
    (tmp_path / "home" / "models" / "mine").mkdir(parents=True)
    file = write_experiment(
        tmp_path / "home",
        '[[group]]\nname = "g"\nmodels = ["hf:models/mine", "hf:./gone", "hf:org/hub"]\n'
        '[report]\nout = "papers"\n',
    )
    monkeypatch.chdir(tmp_path)
    experiment = read_experiment(Path("home") / file.name)
    home = (tmp_path / "home").resolve()
    specs = [member.spec for member in experiment.groups[0].members]
    assert specs == [f"hf:{home}/models/mine", f"hf:{home}/gone", "hf:org/hub"]
    assert experiment.studies == (str(home / "study"),)
    assert (experiment.out, experiment.report.out) == (home / "runs" / "tiny", home / "papers")
    names = [task.folder.name for task in plan_tasks(experiment)]
    assert names == ["mine-story", "gone-story", "org-hub-story"]


def test_a_folder_that_comes_to_be_there_keeps_its_run_folder(tmp_path):
    file = write_experiment(tmp_path, '[[group]]\nname = "g"\nmodels = ["hf:./later"]\n')
    before = plan_tasks(read_experiment(file))[0].folder
    (tmp_path / "later").mkdir()
    assert plan_tasks(read_experiment(file))[0].folder == before


def test_checkpoints_come_in_the_order_of_words_seen(tmp_path):
    for name in ("chck_1M", "chck_10M", "chck_2M", "chck_300k", "notes"):
        (tmp_path / "out" / name).mkdir(parents=True)
    (tmp_path / "out" / "chck_9M").write_text("no folder")
    file = write_experiment(
        tmp_path,
        '[[group]]\nname = "g"\nmodels = [{ checkpoints = "out/chck_*" }]\n',
    )
    members = read_experiment(file).groups[0].members
    assert [m.checkpoint for m in members] == ["chck_300k", "chck_1M", "chck_2M", "chck_10M"]
    assert [m.words for m in members] == [300_000, 1_000_000, 2_000_000, 10_000_000]
    assert {m.series for m in members} == {"out"}
    assert members[0].label == "out@chck_300k"


def test_revisions_are_checkpoints_with_words_from_name_table_file_or_steps(tmp_path):
    (tmp_path / "words.csv").write_text("checkpoint,words\nrc1,5\nrc2,7\n", encoding="utf-8")
    file = write_experiment(
        tmp_path,
        '[[group]]\nname = "g"\nmodels = [\n'
        '  { id = "hf:org/a", revisions = ["chck_1M", "main"] },\n'
        '  { id = "hf:org/b", label = "B", revisions = ["x", "y"], words = { x = 3, y = 4 } },\n'
        '  { id = "hf:org/c", revisions = ["rc1", "rc2"], words_file = "words.csv" },\n'
        '  { id = "hf:org/d", revisions = ["step10", "step-20"], words_per_step = 100.5 },\n'
        "]\n",
    )
    members = read_experiment(file).groups[0].members
    assert [m.words for m in members] == [1_000_000, None, 3, 4, 5, 7, 1005, 2010]
    assert [m.spec for m in members[:2]] == ["hf:org/a@chck_1M", "hf:org/a@main"]
    assert [m.series for m in members[:3]] == ["a", "a", "B"]
    assert members[2].label == "B@x"
    assert len({m.folder for m in members}) == 8


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chck_1M", 1_000_000), ("chck_900M", 900_000_000), ("10M", 10_000_000),
        ("epoch3_10M", 10_000_000), ("words-1.5B", 1_500_000_000), ("main_20k_words", 20_000),
        ("step1000", None), ("main", None), ("v2", None), ("gpt2b", None), ("10Mega", None),
        ("7b-chck_3M", 3_000_000),
    ],
)  # fmt: skip
def test_words_seen_are_read_from_a_name_or_not_at_all(name, words):
    assert words_seen(name) == words


def test_all_faults_come_at_once_with_their_lines(tmp_path):
    file = write_experiment(
        tmp_path,
        '[setings]\na = 1\n[settings]\ndtyp = "float32"\nmethods = ["logprop"]\nlimit = 0\n'
        'threads = true\nwhere = { asker = 0 }\n[[group]]\nname = "a b"\nstudies = ["other"]\n'
        'models = [\n  "gpt2",\n  { id = "hf:x/y", checkpoints = "z*" },\n  { lable = "x" },\n'
        '  { id = "hf:org/m@main", revisions = ["a"] },\n'
        '  { id = "hf:org/n", revisions = ["a"], words = { b = 3 } },\n  3,\n'
        '  { checkpoints = "none_*" },\n  { id = "hf:q/r", words_file = "gone.csv" },\n]\n'
        '[[group]]\nname = "b"\nmodels = []\n',
        studies='"gricean", "study"',
    )
    text = "\n".join(faults(file))
    for line in (
        'tiny.toml line 3, experiment.studies[0]: got "gricean"; expected gricean-maxims? one of',
        'line 5, key: got "setings"; expected settings? one of experiment, settings, group, report',
        'line 8, settings: got "dtyp"; expected dtype?',
        'line 9, settings.methods[0]: got "logprop"; expected logprob? one of logprob,',
        'line 10, settings.limit: got "0"; expected a whole number, 1 or more',
        'line 11, settings.threads: got "True"; expected a whole number',
        'line 12, settings.where.asker: got "0"; expected text',
        'line 14, group[0].name: got "a b"; expected letters, digits',
        'line 15, group[0].studies[0]: got "other"; expected one of study',
        'line 17, group[0].models[0]: got "gpt2"; expected embedded:NAME',
        'line 18, group[0].models[1]: got "both"; expected either id or checkpoints',
        'line 19, group[0].models[2]: got "lable"; expected label?',
        'line 20, group[0].models[3].id: got "hf:org/m@main"; expected a hub id without @REVISION',
        'line 21, group[0].models[4].words.b: got "b"; expected one of a',
        'line 22, group[0].models[5]: got "3"; expected a model\'s id, or a table with one',
        'line 23, group[0].models[6].checkpoints: got "none_*"; expected a pattern that folders',
        "line 28, group[1].models: got",
    ):
        assert line in text, f"{line}\n---\n{text}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", 'group: got "nothing"; expected a table [group]'),
        ("[[group]\n", 'line 5, syntax: got "Expected'),
        ("group = 3\n", 'experiment: got "group"'),
        ('[[group]]\nname = "g"\n', 'group[0].models: got "nothing"; expected a list of models'),
        (ONE + ONE, 'line 9, group[1].name: got "g"; expected each name once'),
        (ONE + 'formats = ["tale"]\n', 'line 7, formats: got "tale"; expected one of story'),
        (ONE + 'promptings = ["MIN"]\n', 'got "MIN"; expected nothing, in these studies'),
        (ONE + 'where = { akser = "Ann" }\n', 'where: got "akser"; expected asker?'),
        (ONE + 'where = { asker = "Cy" }\n', 'where.asker: got "Cy"; expected one of Ann, Bo'),
        (
            '[[group]]\nname = "g"\nmodels = [{ id = "hf:a/b" }, { id = "hf:a/b", limit = 1 }]\n',
            'line 7, label: got "a-b (also on line 7)"; expected a label of its own',
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(tmp_path, body, message):
    assert any(message in fault for fault in faults(write_experiment(tmp_path, body)))


@pytest.mark.parametrize(
    ("raw", "message"),
    [(b"\xff\xfe", "encoding"), (b"", 'experiment: got "nothing"; expected a table')],
)
def test_a_file_that_is_no_toml_is_named(tmp_path, raw, message):
    file = tmp_path / "bad.toml"
    file.write_bytes(raw)
    assert any(message in fault for fault in faults(file))
    with pytest.raises(FaultsError, match="No such file"):
        read_experiment(tmp_path / "none.toml")


def test_line_ends_and_byte_order_mark_of_windows_are_taken(tmp_path):
    file = write_experiment(tmp_path, ONE)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert read_experiment(file).groups[0].members[0].line == 7


def test_runs_are_study_times_model_times_method_times_format_and_each_once(tmp_path):
    file = write_experiment(
        tmp_path,
        '[settings]\nmethods = ["asked", "expected", "logprob"]\nformats = ["names", "plain"]\n'
        'promptings = ["MIN"]\ntemperature = 0.5\nwhere = { wording = "0" }\n'
        '[[group]]\nname = "one"\nmodels = ["embedded:smollm2-135m"]\n'
        '[[group]]\nname = "two"\nmodels = ["embedded:smollm2-135m", "hf:a/b"]\n'
        'studies = ["gricean-maxims"]\n',
        studies='"gricean-maxims", "social-meaning"',
    )
    tasks = plan_tasks(read_experiment(file))
    assert [(t.name, t.groups) for t in tasks] == [
        ("gricean-maxims/smollm2-135m-asked", ("one", "two")),
        ("gricean-maxims/smollm2-135m-logprob-names", ("one", "two")),
        ("gricean-maxims/smollm2-135m-logprob-plain", ("one", "two")),
        ("social-meaning/smollm2-135m-expected", ("one",)),
        ("gricean-maxims/a-b-asked", ("two",)),
        ("gricean-maxims/a-b-logprob-names", ("two",)),
        ("gricean-maxims/a-b-logprob-plain", ("two",)),
    ]
    asked, scored, _, rated = tasks[:4]
    assert (asked.settings.temperature, asked.settings.promptings) == (0.5, None)
    assert (scored.settings.temperature, scored.settings.where) == (None, {"wording": "0"})
    assert (rated.settings.temperature, rated.settings.where) == (None, None)
    assert [len(t.trial_ids()) for t in (asked, scored, rated)] == [1500, 1500, 144]
