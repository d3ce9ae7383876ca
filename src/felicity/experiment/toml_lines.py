"""On which line of a TOML text each key and each entry of a list stands."""

from __future__ import annotations

import re

Path = tuple[str | int, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_QUOTES = ('"""', "'''", '"', "'")


def line_numbers(text: str) -> dict[Path, int]:
    r"""Map the path of every key, table and list entry to its line, counted from 1.

    Parameters
    ----------
    text
        TOML without faults of syntax; `tomllib`, which has judged that, says no lines.

    Examples
    --------
    >>> lines = line_numbers('a = 1\n[[b]]\nc = [\n  "x",\n  {d = 2},\n]\n')
    >>> lines["a",], lines["b", 0], lines["b", 0, "c", 1, "d"]
    (1, 2, 5)
    """
    return _Scanner(text).scan()


class _Scanner:
    """Walks a text once; values are skipped, not read."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}

    def scan(self) -> dict[Path, int]:
        """Walk the document."""
        table: Path = ()
        self._blank()
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                self.at += 2
                path = self._resolve(self._key())
                number = self.counts.get(path, 0)
                self.counts[path] = number + 1
                self.lines.setdefault(path, self._line())
                table = (*path, number)
                self.lines[table] = self._line()
                self.at += 2
            elif self.text[self.at] == "[":
                self.at += 1
                table = self._resolve(self._key())
                self.lines.setdefault(table, self._line())
                self.at += 1
            else:
                self._pair(table)
            self._blank()
        return self.lines

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _blank(self) -> None:
        """Skip spaces, line ends and comments."""
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                self.at = (self.text + "\n").index("\n", self.at)
            elif self.text[self.at].isspace():
                self.at += 1
            else:
                return

    def _resolve(self, key: Path) -> Path:
        """Add to the key of a table the number of each list of tables that it lies in."""
        path: Path = ()
        for place, part in enumerate(key):
            path = (*path, part)
            if path in self.counts and place < len(key) - 1:
                path = (*path, self.counts[path] - 1)
        return path

    def _key(self) -> Path:
        parts: list[str] = []
        while True:
            self._blank()
            if self.text[self.at] in "\"'":
                start = self.at
                self._string()
                parts.append(self.text[start + 1 : self.at - 1])
            else:
                found = _BARE.match(self.text, self.at)
                # Nothing else can stand here: tomllib has read the text.
                assert found is not None
                parts.append(found[0])
                self.at = found.end()
            self._blank()
            if self.text[self.at] != ".":
                return tuple(parts)
            self.at += 1

    def _pair(self, table: Path) -> None:
        self._blank()
        line = self._line()
        path = (*table, *self._key())
        self.lines[path] = line
        self.at += 1
        self._value(path)

    def _value(self, path: Path) -> None:
        self._blank()
        first = self.text[self.at]
        if first in "\"'":
            self._string()
        elif first == "[":
            self._several(path, "]")
        elif first == "{":
            self._several(path, "}")
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def _several(self, path: Path, end: str) -> None:
        """Walk the entries of a list, or the pairs of an inline table."""
        self.at += 1
        number = 0
        self._blank()
        while self.text[self.at] != end:
            if end == "]":
                self.lines[*path, number] = self._line()
                self._value((*path, number))
            else:
                self._pair(path)
            number += 1
            self._blank()
            if self.text[self.at] == ",":
                self.at += 1
                self._blank()
        self.at += 1

    def _string(self) -> None:
        quote = next(each for each in _QUOTES if self.text.startswith(each, self.at))
        self.at += len(quote)
        while not self.text.startswith(quote, self.at):
            # A backslash hides what follows it, but not between single quotes.
            self.at += 2 if self.text[self.at] == "\\" and quote[0] == '"' else 1
        self.at += len(quote)
        # A text of several lines may end in quotes of its own: ""…"""".
        while len(quote) == 3 and self.text.startswith(quote[0], self.at):
            self.at += 1
