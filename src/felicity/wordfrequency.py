"""How frequent the words of a text are: the ``wordfreq`` package, if it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from felicity.stats.cues import words

# Their words are split by further packages, which wordfreq does not bring along.
SPLIT_ELSEWHERE = frozenset({"ja", "ko", "zh"})


def has_word_frequencies(language: str) -> bool:
    """Whether ``wordfreq`` is installed (extra ``build``) and knows a language.

    Examples
    --------
    >>> has_word_frequencies("tlh")
    False
    """
    if find_spec("wordfreq") is None or language in SPLIT_ELSEWHERE:
        return False
    from wordfreq import available_languages

    return language in available_languages()


def rare_words(text: str, language: str, below: float) -> dict[str, float]:
    """Return the words of a text whose Zipf frequency is below a limit, each with its own.

    Examples
    --------
    >>> rare_words("The dog saw a numbat.", "en", 3.0)
    {'numbat': 1.07}
    """
    from wordfreq import zipf_frequency

    found = {word: zipf_frequency(word, language) for word in words(text)}
    return {word: zipf for word, zipf in found.items() if zipf < below}


def mean_zipf(text: str, language: str) -> float:
    """Mean Zipf frequency of a text's words (Van Heuven et al. 2014: 3 is rare, 6 very common).

    Examples
    --------
    >>> mean_zipf("the dog", "en") > mean_zipf("a beetle", "en") - 2
    True
    """
    from wordfreq import zipf_frequency

    found = [zipf_frequency(word, language) for word in words(text)]
    return sum(found) / len(found) if found else 0.0
