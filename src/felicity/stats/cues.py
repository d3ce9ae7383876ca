"""Shallow cues: how well a blind rule picks the first answer, without any understanding."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class CueScore:
    """How often a rule picks the first answer; a tie counts as a draw among those tied."""

    share: float
    ties: int
    items: int


def words(text: str) -> list[str]:
    """Split into lower-case words.

    Examples
    --------
    >>> words("I don't know, Joan.")
    ['i', "don't", 'know', 'joan']
    """
    return WORD.findall(text.lower())


def overlap(question: str, answer: str) -> float:
    """Share of the answer's different words that stand in the question too.

    Examples
    --------
    >>> overlap("Where is the dog?", "The dog is here.")
    0.75
    """
    of_answer = set(words(answer))
    return len(of_answer & set(words(question))) / len(of_answer) if of_answer else 0.0


Rule = Callable[[str, str], float]

RULES: Mapping[str, Rule] = {
    "longer (characters)": lambda _question, answer: len(answer),
    "longer (words)": lambda _question, answer: len(answer.split()),
    "overlap with question": overlap,
}


def cue_score(texts: Sequence[tuple[str, ...]], rule: Rule) -> CueScore:
    """Apply a rule that picks the answer with the higher value.

    Parameters
    ----------
    texts
        Question, first answer, the other answers of each item.
    rule
        A number for a question and an answer.

    Examples
    --------
    >>> cue_score([("Why?", "Long answer.", "Short."), ("Who?", "Me.", "Us.")],
    ...           RULES["longer (characters)"])
    CueScore(share=0.75, ties=1, items=2)
    """
    won = 0.0
    ties = 0
    for question, *answers in texts:
        # Rounded, so that two equal means of floats tie.
        first, *others = (round(rule(question, answer), 9) for answer in answers)
        best = others.count(first)
        if first >= max(others):
            won += 1 / (1 + best)
            ties += best > 0
    return CueScore(share=won / len(texts), ties=ties, items=len(texts))
