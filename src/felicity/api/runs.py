"""Run a study of either paradigm on a model, by its name or open already."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from felicity.api.options import refuse
from felicity.asked.run import METHOD as ASKED
from felicity.asked.run import AskedRun, run_asked
from felicity.errors import OptionError, one_of
from felicity.manifest import describe_study
from felicity.participants import open_participant, opening_options, parse_spec
from felicity.participants.opening import open_chat
from felicity.participants.spec import KINDS
from felicity.rating.run import RatingRun, run_ratings
from felicity.rating.study import RatingStudy
from felicity.runner import Run, find_finished
from felicity.runner import run as run_scored
from felicity.study import Study, load_study
from felicity.types import RATING_METHODS, Sampling

if TYPE_CHECKING:
    from felicity.participants.base import Participant
    from felicity.participants.chat import ChatParticipant

Progress = Callable[[int, int], None]


def ignore_progress(_done: int, _total: int) -> None:
    """Do nothing with how far a run is."""


def run(
    study: Study | RatingStudy | str | Path,
    model: Participant | ChatParticipant | str,
    out: Path | str | None = None,
    *,
    method: str | None = None,
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
    format: str | None = None,  # noqa: A002 - the study's own word
    promptings: Sequence[str] | None = None,
    repeats: int | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    seed: int = 0,
    device: str = "auto",
    dtype: str = "float32",
    progress: Progress = ignore_progress,
) -> Run | AskedRun | RatingRun:
    """Run a study on one model; the same call again goes on where it broke off.

    Parameters
    ----------
    study
        A study, its built-in name, or its folder.
    model
        ``embedded:NAME``, ``hf:ID[@REVISION]``, ``hf:FOLDER``, ``api:PROVIDER/MODEL`` or
        ``server:ADDRESS``; or a participant that is open already, which has its method, device
        and dtype.
    out
        The run folder; by default that of the command line, ``runs/STUDY/MODEL-…``.
    method
        Choice: ``logprob``, ``pll_within_word_l2r``, ``pll_original`` (by default what fits the
        architecture) or ``asked``. Rating: ``sampled`` (the default) or ``expected``.
    where, limit
        Only items with these factor levels; only so many (per prompting).
    format
        Choice, by log-probability: how the dialogue is written down; the study's default.
    promptings, repeats
        Rating: only these; how often each question is put.
    temperature, max_tokens, seed
        Of replies in words. The temperature is the study's by default, 0 where a choice is asked.
    device, dtype
        ``auto``, ``cpu``, ``cuda``, ``mps``; ``float32``, ``bfloat16``, ``float16``.
    progress
        Called with what is done and what there is in all.

    Returns
    -------
    Run, AskedRun or RatingRun
        ``responses`` is a polars frame; its columns are in docs/run-folder.md.

    Raises
    ------
    FelicityError
        Where the study has faults, the model cannot be opened, an option means nothing here, or
        the folder is another run's.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     done = run("gricean-maxims", "embedded:smollm2-135m", folder, limit=2)
    >>> done.responses.height, done.complete
    (4, True)
    """
    loaded = load_study(study) if isinstance(study, (str, Path)) else study
    asked = _Asked(
        model=model,
        out=None if out is None else Path(out),
        method=_method_of(loaded, model, method),
        where=where or {},
        limit=limit,
        device=device,
        dtype=dtype,
        progress=progress,
    )
    words = {"temperature": temperature, "max_tokens": max_tokens}
    ratings = {"promptings": promptings, "repeats": repeats}
    if isinstance(loaded, RatingStudy):
        refuse("a rating study", {"format": format})
        return _run_ratings(loaded, asked, promptings, repeats, words, seed)
    if asked.method == ASKED:
        refuse("an asked run", {"format": format, **ratings})
        return _run_asked(loaded, asked, words, seed)
    refuse("a choice study", {**ratings, **words})
    return _run_scored(loaded, asked, format)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What every kind of run is told."""

    model: Any
    out: Path | None
    method: str | None
    where: Mapping[str, str]
    limit: int | None
    device: str
    dtype: str
    progress: Progress

    def place(self, study: str, *parts: str) -> Path:
        """Return the run folder, called as on the command line."""
        spec = self.model if isinstance(self.model, str) else self.model.info.spec
        slug = "".join(c if c.isalnum() or c in "-_.@" else "-" for c in spec)
        if spec.partition(":")[0] in KINDS:
            slug = parse_spec(spec).slug
        return self.out or Path("runs") / study / "-".join([slug, *parts])

    def chat(self, method: str, study: RatingStudy | None = None) -> ChatParticipant:
        """Open the model as one that replies in words, or return it as it is."""
        if not isinstance(self.model, str):
            if not hasattr(self.model, "ask"):
                raise OptionError(
                    "got a participant that scores texts; expected one that replies",
                    where="model",
                    hint="give the model by name, such as api:PROVIDER/MODEL",
                )
            return cast("ChatParticipant", self.model)
        scale = None if study is None else study.scale
        return open_chat(
            self.model, method=method, scale=scale, device=self.device, dtype=self.dtype
        )


def _method_of(study: Study | RatingStudy, model: Any, method: str | None) -> str | None:
    """Return the method that was asked for, or the one that an open participant has."""
    if isinstance(model, str):
        return method
    has = str(model.info.method)
    if hasattr(model, "ask") and isinstance(study, Study):
        has = ASKED
    if method is not None and method != has:
        raise OptionError(
            f'got "{method}" for a participant that is open as {has}; expected {has}',
            where="method",
            hint="give the model by name",
        )
    # A participant that scores has the run folder of its default method.
    return has if hasattr(model, "ask") else None


def _run_scored(study: Study, asked: _Asked, name: str | None) -> Run:
    fmt = study.format(name)
    items = study.select(asked.where, asked.limit)
    parts = [asked.method] if asked.method else []
    place = asked.place(study.name, *parts, fmt.name)
    participant = asked.model
    if isinstance(participant, str):
        opened_with = opening_options(asked.method, "auto", asked.dtype)
        finished = find_finished(
            study, fmt, place, spec=participant, opened_with=opened_with, items=items
        )
        if finished is not None:
            return finished
        participant = open_participant(
            participant, method=asked.method, device=asked.device, dtype=asked.dtype
        )
    return run_scored(
        study,
        participant,
        place,
        format=fmt.name,
        where=asked.where,
        limit=asked.limit,
        progress=asked.progress,
    )


def _run_asked(study: Study, asked: _Asked, words: Mapping[str, Any], seed: int) -> AskedRun:
    temperature = 0.0 if words["temperature"] is None else words["temperature"]
    return run_asked(
        study,
        asked.chat("sampled"),
        asked.place(study.name, ASKED),
        sampling=Sampling(temperature=temperature, max_tokens=words["max_tokens"], seed=seed),
        where=asked.where,
        limit=asked.limit,
        progress=asked.progress,
    )


def _run_ratings(
    study: RatingStudy,
    asked: _Asked,
    promptings: Sequence[str] | None,
    repeats: int | None,
    words: Mapping[str, Any],
    seed: int,
) -> RatingRun:
    from felicity.rating.parsers import parser_of
    from felicity.rating.prompts import conversations

    method = asked.method or RATING_METHODS[0]
    if method not in RATING_METHODS:
        raise OptionError(f'got "{method}"; expected {one_of(RATING_METHODS)}', where="method")
    sampling = Sampling(temperature=None)
    if method == "expected":
        # A distribution is read, not sampled, and is the same each time.
        refuse("a rating study with method expected", words)
        repeats = repeats or 1
    else:
        given = words["temperature"]
        temperature = study.temperature if given is None else given
        sampling = Sampling(temperature=temperature, max_tokens=words["max_tokens"], seed=seed)
    return run_ratings(
        conversations(
            study,
            promptings=promptings,
            repeats=repeats,
            seed=seed,
            where=asked.where,
            limit=asked.limit,
        ),
        asked.chat(method, study),
        asked.place(study.name, method),
        sampling=sampling,
        manifest={
            **describe_study(study),
            "presentation": study.presentation,
            "order": "fixed",
            "seed": seed,
        },
        parser=parser_of(method),
        progress=asked.progress,
    )
