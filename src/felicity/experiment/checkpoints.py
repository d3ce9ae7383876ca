"""How many words a checkpoint has seen, read from its name."""

from __future__ import annotations

import re

_UNITS = {"k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
# 10M, chck_1.5M, words-300k, main_100M_words; not the 2b of "gpt2b" nor the 3 of "v3m0".
_WORDS = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)([kKmMbB])(?![A-Za-z0-9])")
_STEP = re.compile(r"(?<![A-Za-z])(?:global[-_]?step|step|checkpoint|ckpt)s?[-_=]?(\d+)", re.I)


def words_seen(name: str, words_per_step: float | None = None) -> int | None:
    """Read the words seen from a checkpoint's name; None where it does not say.

    Parameters
    ----------
    name
        A revision, or a folder's name.
    words_per_step
        Words in one step, for names that count steps: ``step1000``, ``checkpoint-500``.

    Examples
    --------
    >>> words_seen("chck_1M"), words_seen("chck_30k"), words_seen("1.5B-words")
    (1000000, 30000, 1500000000)
    >>> words_seen("step1000"), words_seen("step1000", 16_384)
    (None, 16384000)
    >>> words_seen("main") is None
    True
    """
    found = _WORDS.findall(name)
    if found:
        number, unit = found[-1]
        return round(float(number) * _UNITS[unit.lower()])
    step = _STEP.search(name)
    if step and words_per_step is not None:
        return round(int(step[1]) * words_per_step)
    return None
