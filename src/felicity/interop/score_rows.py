"""Rows of a table of scores, matched to the answers of a study."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from felicity.errors import Fault, OptionError, one_of
from felicity.folder_reader import Row
from felicity.given_scores import GivenScore
from felicity.study import Study
from felicity.types import Item

ITEM_ID, LABEL, QUESTION, ANSWER = "item_id", "answer_label", "question", "answer"
SCORE, COUNT, TOKEN = "score", "n_tokens", "token"
ROLES = (ITEM_ID, LABEL, QUESTION, ANSWER, SCORE, COUNT, TOKEN)
POSITIVE = (
    "a log-probability, 0 or less (a surprisal? --unit surprisal or surprisal_bits; "
    "a probability? take its logarithm)"
)
Key = tuple[str, str]


class ScoreReader:
    """Reads the rows of one table; keeps every fault instead of stopping at the first.

    Parameters
    ----------
    study
        Whose answers were scored.
    file
        The table's name, for faults.
    columns
        Role to column, where it is not called by its role.
    factor
        By which a number is multiplied to be a natural log-probability.
    """

    def __init__(self, study: Study, file: str, columns: Mapping[str, str], factor: float) -> None:
        self.study = study
        self.file = file
        self.columns = columns
        self.factor = factor
        self.faults: list[Fault] = []
        self.gives: tuple[str, ...] = ()
        self._items = {item.item_id: item for item in study.items}
        self._by_question: dict[str, list[Item]] = defaultdict(list)
        for item in study.items:
            self._by_question[item.question.strip()].append(item)

    def read(self, rows: Sequence[Row], score: str) -> list[GivenScore]:
        """Read all rows; ``score`` is what one number of an answer is."""
        header = list(dict.fromkeys(name for _, row in rows for name in row))
        self._check_columns(header)
        if self._at(TOKEN) in header:
            self.gives = ("log_prob_mean", "log_prob_sum", "bits_per_character")
            return self._tokens(rows, header)
        # A row for an item has one count for several answers: it says nothing of either.
        counted = self._at(COUNT) in header and self._at(SCORE) in header
        self.gives = (score,)
        if counted or score == "log_prob_sum":
            self.gives = ("log_prob_sum", "bits_per_character")
            self.gives += ("log_prob_mean",) if counted else ()
        if self._at(SCORE) in header:
            return self._answers(rows, header, score)
        return self._wide(rows, header, score)

    def _at(self, role: str) -> str:
        return self.columns.get(role, role)

    def _check_columns(self, header: Sequence[str]) -> None:
        labels = self.study.design.answers
        for role, column in self.columns.items():
            if role not in (*ROLES, *labels):
                raise OptionError(
                    f'got "{role}"; expected {one_of((*ROLES, *labels))}', where="--column"
                )
            if column not in header:
                raise OptionError(f'got "{column}"; expected {one_of(header)}', where="--column")
        long = self._at(SCORE) in header
        wide = all(self._at(label) in header for label in labels)
        if not long and not wide:
            raise OptionError(
                f"got the columns {', '.join(header)}; expected {SCORE}, or one for each of "
                f"{', '.join(labels)}",
                where=self.file,
                hint="name them: --column score=THEIRS, or "
                + " ".join(f"--column {label}=THEIRS" for label in labels),
            )
        texts = self._at(QUESTION) in header
        if self._at(ITEM_ID) not in header and not texts:
            raise OptionError(
                f"got the columns {', '.join(header)}; expected {ITEM_ID}, or {QUESTION}",
                where=self.file,
                hint="`felicity items STUDY --json` lists the items with their ids",
            )
        if long and self._at(LABEL) not in header and self._at(ANSWER) not in header:
            raise OptionError(
                f"got the columns {', '.join(header)}; expected {LABEL}, or {ANSWER} (the text)",
                where=self.file,
            )

    def _answers(self, rows: Sequence[Row], header: Sequence[str], score: str) -> list[GivenScore]:
        """Read a row for each answer."""
        cells = [
            (line, row, key)
            for line, row in rows
            if (key := self._key(line, row, header)) is not None
        ]
        self._no_twice([(line, key) for line, _, key in cells])
        return [
            self._one(key, row.get(self._at(SCORE), ""), self._count(line, row), score, line, SCORE)
            for line, row, key in cells
        ]

    def _wide(self, rows: Sequence[Row], header: Sequence[str], score: str) -> list[GivenScore]:
        """Read a row for each item, with a column of scores for each answer."""
        found, seen = [], []
        for line, row in rows:
            item = self._item(line, row, header, answer=None)
            if item is None:
                continue
            seen.append((line, (item.item_id, "")))
            for label in self.study.design.answers:
                text = row.get(self._at(label), "")
                if label in item.answers:
                    key = (item.item_id, label)
                    found.append(self._one(key, text, None, score, line, self._at(label)))
                elif text.strip():
                    self._fault(line, self._at(label), text, "nothing: the item has no such answer")
        self._no_twice(seen)
        return found

    def _tokens(self, rows: Sequence[Row], header: Sequence[str]) -> list[GivenScore]:
        """Read a row for each token, in order."""
        parts: dict[Key, list[tuple[str, float]]] = defaultdict(list)
        lines: dict[Key, int] = {}
        last: Key | None = None
        for line, row in rows:
            key = self._key(line, row, header)
            if key is None:
                continue
            if key in parts and key != last:
                self._fault(line, ITEM_ID, " ".join(key), "the tokens of an answer in one block")
            last = key
            lines.setdefault(key, line)
            value = self._number(line, self._at(SCORE), row.get(self._at(SCORE), "") or "nothing")
            parts[key].append((row.get(self._at(TOKEN), ""), math.nan if value is None else value))
        unscored = [key for key, tokens in parts.items() if tokens[0][1] == 0.0]
        if unscored:
            self._fault(
                lines[unscored[0]],
                self._at(SCORE),
                f"0 for the first token of {len(unscored)} of {len(parts)} answers",
                "its log-probability (minicons leaves a token with nothing before it at 0: score "
                "the answer after its question, or with a token before it)",
            )
        return [
            GivenScore(
                item_id=key[0],
                answer_label=key[1],
                log_prob_sum=(total := math.fsum(value for _, value in tokens)),
                log_prob_mean=total / len(tokens),
                n_tokens=len(tokens),
                tokens=tuple(token for token, _ in tokens),
                log_probs=tuple(value for _, value in tokens),
            )
            for key, tokens in parts.items()
        ]

    def _one(
        self, key: Key, text: str, count: int | None, score: str, line: int, column: str
    ) -> GivenScore:
        value = self._number(line, column, text)
        mean, total = (value, None) if score == "log_prob_mean" else (None, value)
        if value is not None and count is not None:
            mean = value if mean is not None else value / count
            total = value if total is not None else value * count
        return GivenScore(
            item_id=key[0],
            answer_label=key[1],
            log_prob_sum=total,
            log_prob_mean=mean,
            n_tokens=count,
        )

    def _number(self, line: int, column: str, text: str) -> float | None:
        """Return a natural log-probability, or None where the cell is empty."""
        if not text.strip():
            return None
        try:
            value = float(text) * self.factor
        except ValueError:
            self._fault(line, column, text, "a number, with a point for decimals")
            return None
        if value > 0:
            self._fault(line, column, text, POSITIVE if self.factor > 0 else "0 or more")
            return None
        # Not -0.0, which a surprisal of 0 would be.
        return value + 0.0

    def _count(self, line: int, row: Mapping[str, str]) -> int | None:
        text = row.get(self._at(COUNT), "").strip()
        if not text:
            return None
        if not text.isdecimal() or int(text) == 0:
            self._fault(line, self._at(COUNT), text, "a whole number, 1 or more")
            return None
        return int(text)

    def _key(self, line: int, row: Mapping[str, str], header: Sequence[str]) -> Key | None:
        text = row.get(self._at(ANSWER), "").strip() if self._at(ANSWER) in header else None
        item = self._item(line, row, header, answer=text)
        if item is None:
            return None
        if self._at(LABEL) in header:
            label = row.get(self._at(LABEL), "").strip()
            if label not in item.answers:
                self._fault(line, self._at(LABEL), label, one_of(tuple(item.answers)))
                return None
            return item.item_id, label
        labels = [label for label, answer in item.answers.items() if answer.strip() == text]
        if not labels:
            allowed = "the text of one of the item's answers"
            self._fault(line, self._at(ANSWER), text or "", allowed)
            return None
        return item.item_id, labels[0]

    def _item(
        self, line: int, row: Mapping[str, str], header: Sequence[str], answer: str | None
    ) -> Item | None:
        if self._at(ITEM_ID) in header:
            item = self._items.get(row.get(self._at(ITEM_ID), "").strip())
            if item is None:
                got = row.get(self._at(ITEM_ID), "")
                self._fault(line, self._at(ITEM_ID), got, f"an item of {self.study.name}")
            return item
        question = row.get(self._at(QUESTION), "").strip()
        factors = [name for name in self.study.items[0].factors if name in header]
        alike = [
            item
            for item in self._by_question.get(question, ())
            if all(item.factors[name] == row[name].strip() for name in factors)
            and (answer is None or answer in {text.strip() for text in item.answers.values()})
        ]
        if len(alike) != 1:
            allowed = f"the question of one item; {len(alike)} have these texts"
            hint = f" (tell them apart by {one_of((ITEM_ID, *self.study.items[0].factors))})"
            self._fault(line, self._at(QUESTION), question, allowed + (hint if alike else ""))
            return None
        return alike[0]

    def _no_twice(self, keys: Sequence[tuple[int, Key]]) -> None:
        first: dict[Key, int] = {}
        for line, key in keys:
            if key in first:
                got = " ".join(part for part in key if part)
                self._fault(line, ITEM_ID, got, f"each once; it stands in line {first[key]}")
            first.setdefault(key, line)

    def _fault(self, line: int, field: str, got: str, allowed: str) -> None:
        self.faults.append(
            Fault(file=self.file, line=line, field=field, got=got[:80], allowed=allowed)
        )
