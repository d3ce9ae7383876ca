"""Put every trial of a study to a participant; keep every response; go on where it broke off."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.errors import Fault, FaultsError, RunError
from felicity.given_scores import given_table
from felicity.journal import Journal
from felicity.manifest import (
    claim_folder,
    describe_format,
    describe_run,
    read_manifest,
    session,
    study_of_run,
    write_manifest,
)
from felicity.notebook import show_counts, show_facts
from felicity.participants.base import ManyHands
from felicity.participants.memory import Halving
from felicity.rating.journal import only_run
from felicity.responses import responses_table
from felicity.study import Format, Study, load_choice_study
from felicity.tables import write_tables
from felicity.types import Item, ParticipantInfo, Response, TextPair, TokenScores, Trial

if TYPE_CHECKING:
    import polars as pl

    from felicity.participants.base import Participant, Plan
    from felicity.participants.memory import Scored
    from felicity.scoring.counts import TokenPlan

JOURNAL = "journal.sqlite"
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run as it lies on disk.

    ``responses`` has a row for each answer of each item; its columns are in docs/run-folder.md.
    """

    folder: Path
    study: Study
    manifest: Mapping[str, Any]
    responses: pl.DataFrame
    asked: int

    @property
    def label(self) -> str:
        """The participant's name for tables, with what sets this run apart."""
        return str(self.manifest["participant"]["label"])

    @property
    def complete(self) -> bool:
        """Whether every trial that any sitting asked has a response."""
        return self.responses.height >= self.asked

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}, {self.responses.height:,} of {self.asked:,} responses)"

    def _repr_html_(self) -> str:
        told = self.manifest
        return show_facts(
            f"{self.label} on {told['study']}",
            {
                "method": told["participant"]["method"],
                "format": told["format"]["name"],
                "responses": f"{self.responses.height:,} of {self.asked:,} asked",
                "statuses": show_counts(dict(self.responses["status"].value_counts().iter_rows())),
                "folder": self.folder,
            },
        )


def run(
    study: Study | str,
    participant: Participant,
    out: Path | str,
    *,
    format: str | None = None,  # noqa: A002 - the study's own word
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Run:
    """Run a choice study on one participant.

    Parameters
    ----------
    study
        A study, its built-in name, or its folder.
    participant
        From `open_participant`.
    out
        The run folder. One that holds the same run is gone on with; another's is refused.
    format
        One of the study's formats; its default where not given.
    where, limit
        Only items with these factor levels; only so many.
    progress
        Called with trials done and trials in all.

    Returns
    -------
    Run
        With a row for every response in the folder.

    Raises
    ------
    RunError
        Where the folder is another run's or cannot be written.
    FaultsError
        Where an item cannot be scored; nothing is scored then. Where a single text does not fit
        into memory, or takes the workers of a cluster down; all others are scored and kept then.
    """
    study = load_choice_study(study) if isinstance(study, str) else study
    fmt = study.format(format)
    trials = study.trials(fmt, study.select(where or {}, limit))
    keys = {trial.trial_id: trial_key(trial, participant.info) for trial in trials}
    folder = Path(out)
    described = describe_run(study, fmt, participant.info)
    claim_folder(folder, described)
    with only_run(folder), Journal(folder / JOURNAL) as journal:
        # Again, now that nobody else can claim it at the same moment.
        manifest = claim_folder(folder, described)
        done = journal.keys()
        _check_keys(folder, done, keys)
        manifest["asked"] = journal.ask(keys)
        size = getattr(participant, "batch_tokens", None)
        manifest["sessions"].append({**session(), "batch_tokens": size})
        write_manifest(folder, manifest)
        unfit: list[Fault] = []
        try:
            for responses in _score(participant, trials, keys, set(done), unfit):
                journal.add(responses)
                done.update((r.trial_id, r.key) for r in responses)
                progress(sum(trial.trial_id in done for trial in trials), len(trials))
        finally:
            if isinstance(participant, ManyHands):
                manifest["sessions"][-1]["workers"] = participant.workers()
                write_manifest(folder, manifest)
    finished = read_run(folder, study)
    write_tables(folder, "responses", finished.responses)
    if unfit:
        raise FaultsError(
            unfit,
            where=str(folder),
            hint="all other responses are kept; make room or use a larger device, and run the same "
            "command again: only these are still to be scored",
        )
    return finished


def plan_run(
    study: Study,
    participant: Participant,
    *,
    format: str | None = None,  # noqa: A002 - the study's own word
    where: Mapping[str, str] | None = None,
    limit: int | None = None,
) -> TokenPlan:
    """Count the tokens that a run would compute, and score nothing; options as for `run`.

    Raises
    ------
    FaultsError
        Where an item cannot be scored.
    """
    from felicity.scoring.counts import count_tokens

    trials = study.trials(study.format(format), study.select(where or {}, limit))
    pairs, _ = _unique([trial.pair for trial in trials])
    plan = participant.plan(pairs)
    return count_tokens(plan.encoded, plan.batches, way=plan.way, method=participant.info.method)


def read_run(folder: Path | str, study: Study | None = None) -> Run:
    """Read a run folder; its study is found by the manifest where it is not given."""
    path = Path(folder)
    manifest = read_manifest(path)
    if "answer" not in manifest.get("format", {}):
        raise RunError(
            "these answers were not scored; expected a run by log-probability",
            where=str(path),
            hint="`felicity report` takes every kind of run",
        )
    study = study_of_run(path, manifest, study)
    read = (
        partial(given_table, path)
        if "given" in manifest
        else partial(responses_table, path / JOURNAL)
    )
    return Run(
        folder=path,
        study=study,
        manifest=manifest,
        responses=read(study, manifest["format"]["answer"]),
        asked=int(manifest.get("asked", 0)),
    )


def find_finished(
    study: Study,
    fmt: Format,
    folder: Path,
    *,
    spec: str,
    opened_with: Mapping[str, str],
    items: tuple[Item, ...],
) -> Run | None:
    """Return a run that has all that is asked for already, so that no model need be opened.

    Only for embedded models: their checksum says what ``spec`` stands for. Any other folder or hub
    name may hold other weights today than when the run was made.
    """
    if not spec.startswith("embedded:") or not (folder / JOURNAL).is_file():
        return None
    manifest = read_manifest(folder)
    participant = manifest["participant"]
    same = (
        participant.get("spec") == spec
        and participant.get("opened_with") == opened_with
        and manifest["data_hash"] == study.data_hash
        and manifest["format"] == describe_format(fmt)
    )
    if not same:
        return None
    found = read_run(folder, study)
    done = set(zip(found.responses["item_id"], found.responses["answer_label"], strict=True))
    wanted = {(item.item_id, label) for item in items for label in item.answers}
    return found if wanted <= done else None


def trial_key(trial: Trial, info: ParticipantInfo) -> str:
    """Hash all that can change a response: model, tokenizer, method, prefix, dtype, exact texts."""
    parts = [
        info.weights_fingerprint,
        info.tokenizer_fingerprint,
        info.method,
        info.prefix,
        info.dtype,
        trial.pair.context,
        trial.pair.answer,
        trial.baseline.context,
    ]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _check_keys(folder: Path, done: Mapping[str, str], keys: Mapping[str, str]) -> None:
    for trial_id, key in keys.items():
        if done.get(trial_id, key) != key:
            raise RunError(
                f"trial {trial_id} was answered under another model, text or setting",
                where=str(folder / JOURNAL),
                hint="choose another folder with --out",
            )


def _score(
    participant: Participant,
    trials: Sequence[Trial],
    keys: Mapping[str, str],
    done: set[str],
    unfit: list[Fault],
) -> Iterator[list[Response]]:
    """Yield responses batch by batch, the first time none; equal texts are scored once.

    The batches are those of the whole selection, whatever is done already, so that a run that was
    broken off gets the same numbers to the last bit. Trials whose text alone does not fit into
    memory, or takes its workers down, are added to ``unfit``.
    """
    open_trials = [trial.trial_id not in done for trial in trials]
    if not any(open_trials):
        yield []
        return
    pairs, places = _unique([trial.pair for trial in trials])
    firsts = dict(zip(reversed(places), reversed(trials), strict=True))
    plan = participant.plan(pairs, [firsts[place].trial_id for place in range(len(pairs))])
    baselines, lost = _score_baselines(participant, trials, open_trials)
    waiting: dict[int, list[int]] = {}
    for index, place in enumerate(places):
        reason = lost.get(trials[index].baseline)
        if open_trials[index] and reason is not None:
            unfit.append(_lost(trials[index], reason))
        elif open_trials[index]:
            waiting.setdefault(place, []).append(index)
    yield []
    batches = [batch for batch in plan.batches if any(place in waiting for place in batch)]
    for scored in _scored(participant, plan, batches):
        if not scored.fits:
            unfit += [
                _lost(trials[index], scored.reason)
                if scored.reason
                else Fault(
                    file=trials[index].trial_id,
                    field="memory",
                    got=f"{len(plan.encoded[place].ids)} tokens",
                    allowed=f"a text that fits into the memory of {participant.info.device}",
                )
                for place in scored.places
                for index in waiting.get(place, ())
            ]
            continue
        yield [
            Response(
                trial_id=trials[index].trial_id,
                key=keys[trials[index].trial_id],
                status=scores.status,
                scores=scores,
                baseline=baselines.get(trials[index].baseline),
            )
            for place, scores in zip(scored.places, scored.scores, strict=True)
            for index in waiting.get(place, ())
        ]


def _scored(
    participant: Participant, plan: Plan, batches: Sequence[Sequence[int]]
) -> Iterator[Scored]:
    """Yield what becomes of the batches: in their order here, in any order from many hands."""
    if isinstance(participant, ManyHands):
        yield from participant.score_batches(plan, batches)
        return
    halving = Halving(participant)
    for batch in batches:
        yield from halving.score(plan, batch)


def _lost(trial: Trial, reason: str) -> Fault:
    return Fault(
        file=trial.trial_id,
        field="worker",
        got=reason,
        allowed="a text that its worker survives",
    )


def _score_baselines(
    participant: Participant, trials: Sequence[Trial], open_trials: Sequence[bool]
) -> tuple[dict[TextPair, TokenScores], dict[TextPair, str]]:
    """Score the answers without their question, for pointwise mutual information.

    Where a model has no prefix and a format no context, the first token has nothing before it:
    then there is no such score, and it is missing in the responses. What was lost with a worker is
    returned second, with its reason: another sitting may get it.
    """
    baselines, places = _unique([trial.baseline for trial in trials])
    try:
        plan = participant.plan(baselines)
    except FaultsError:
        return {}, {}
    needed = {place for place, is_open in zip(places, open_trials, strict=True) if is_open}
    found: dict[TextPair, TokenScores] = {}
    lost: dict[TextPair, str] = {}
    batches = [batch for batch in plan.batches if needed.intersection(batch)]
    for scored in _scored(participant, plan, batches):
        # Where an answer alone does not fit, it does not with its question either.
        pairs = zip(scored.places, scored.scores, strict=scored.fits)
        found.update((baselines[place], scores) for place, scores in pairs)
        if scored.reason:
            lost.update((baselines[place], scored.reason) for place in scored.places)
    return found, lost


def _unique(pairs: Sequence[TextPair]) -> tuple[list[TextPair], list[int]]:
    """Return the different pairs, and for each pair its place among them."""
    places: dict[TextPair, int] = {}
    order = [places.setdefault(pair, len(places)) for pair in pairs]
    return list(places), order
