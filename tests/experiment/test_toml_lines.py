"""Every key and entry of a TOML text is found on its line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from felicity.experiment.toml_lines import line_numbers

HOSTILE = '''\
# a = [comment
top = "a \\" [ # no comment"   # but this is
'quoted key' = 'single \\'
dotted.inner."third one" = 1979-05-27T07:32:00Z
many = """
one # [x]
"quoted" \\"""" # four quotes end it
other = \'\'\'
]] \\\'\'\'
[table]
list = [ # why
  "x", [1, 2], # and
  # nothing
  { a = 1, b = [ "]" , 2 ] },
]
empty = []
none = {}
[[many_tables]]
a = 1
[[many_tables]]
[many_tables.sub]
b = true
[[many_tables.deep]]
c = -3.5e1
[[many_tables.deep]]
c = inf
'''
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def leaves(value, path=()):
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, (*path, number))


@pytest.mark.parametrize(
    "text", [HOSTILE, HOSTILE.replace("\n", "\r\n"), *(p.read_text() for p in EXAMPLES)]
)
def test_whatever_tomllib_finds_has_a_line_on_which_it_stands(text):
    found = line_numbers(text)
    rows = text.splitlines()
    for path, value in leaves(tomllib.loads(text)):
        # A table that only a longer header names has no line of its own.
        if not path or path not in found:
            assert isinstance(value, dict), path
            continue
        row = rows[found[path] - 1]
        if isinstance(path[-1], str):
            assert path[-1] in row, (path, row)
        elif isinstance(value, int | str):
            assert str(value) in row, (path, row)


def test_lines_are_those_that_a_reader_counts():
    found = line_numbers(HOSTILE)
    assert found[("many",)] == 5
    assert found[("other",)] == 8
    assert found[("table", "list", 2, "b", 1)] == 14
    assert found[("many_tables", 1, "sub", "b")] == 22
    assert found[("many_tables", 1, "deep", 1, "c")] == 26
