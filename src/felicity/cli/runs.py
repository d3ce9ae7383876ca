"""`felicity run`: one command for studies of either paradigm."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from felicity.cli import experiments
from felicity.cli.options import parse_where
from felicity.cli.output import JSON_OPTION, note, print_json
from felicity.errors import FelicityError, OptionError
from felicity.running.options import RunOptions
from felicity.running.places import Place, place_of


def run(
    context: typer.Context,
    study: Annotated[
        str, typer.Argument(help="A built-in study's name, a folder, or an experiment's .toml.")
    ],
    model: list[str] = typer.Option(
        [],
        help="embedded:NAME, hf:ID[@REVISION], hf:FOLDER, api:PROVIDER/MODEL or "
        "server:URL#MODEL; may be repeated.",
    ),
    out: Path = typer.Option(Path("runs"), help="Runs go to OUT/STUDY/MODEL-…"),
    folder: Path = typer.Option(None, help="The run folder itself, for one model."),
    method: str = typer.Option(
        None,
        help="Choice: logprob, pll_within_word_l2r, pll_original, seq2seq (by architecture), or "
        "asked, of chat models. Rating: sampled (default) or expected.",
    ),
    where: list[str] = typer.Option([], help="Only items with FACTOR=LEVEL; may be repeated."),
    limit: int = typer.Option(None, min=1, help="Only so many items (per prompting)."),
    device: str = typer.Option("auto", help="auto, cpu, cuda, cuda:N or mps."),
    device_map: str = typer.Option(
        None, help="Choice: spread a big model over devices: auto, balanced, sequential."
    ),
    dtype: str = typer.Option("float32", help="float32, bfloat16 or float16."),
    dtype_sample: int = typer.Option(
        200, min=0, help="Choice: items compared with float32 under another dtype; 0 is none."
    ),
    threads: int = typer.Option(None, min=1, help="Processor threads; default torch's."),
    trust_remote_code: bool = typer.Option(
        False, "--trust-remote-code", help="Run code that a model brings along."
    ),
    format_name: str = typer.Option(None, "--format", help="Choice: dialogue format."),
    prefix: str = typer.Option(
        "auto", help="Choice: what stands before the text: auto, bos, eos, none or a token id."
    ),
    batch_tokens: int = typer.Option(
        None, min=1, help="Choice: tokens in one forward pass; default by free memory."
    ),
    prompting: list[str] = typer.Option([], help="Rating: only these; may be repeated."),
    repeats: int = typer.Option(None, min=1, help="Rating: how often each question is put."),
    presentation: str = typer.Option(
        None, help="Rating: single (one attribute a request) or block (all in one conversation)."
    ),
    order: str = typer.Option("fixed", help="Rating: of the attributes in a block; or random."),
    seed: int = typer.Option(0, help="Chat: of sampling and of random order."),
    temperature: float = typer.Option(None, min=0, help="Chat: default the study's."),
    max_tokens: int = typer.Option(None, min=1, help="Chat: longest reply; default the model's."),
    max_connections: int = typer.Option(None, min=1, help="Chat, server: requests open at once."),
    smoke: int = typer.Option(3, min=0, help="Chat: first questions, to see that any works."),
    price_in: float = typer.Option(None, min=0, help="Chat: price of a million tokens in."),
    price_out: float = typer.Option(None, min=0, help="Chat: price of a million tokens out."),
    max_cost: float = typer.Option(None, min=0, help="Chat: stop before it costs more."),
    dry_run: bool = typer.Option(
        False,
        "--dry-run",
        help="Say what would be asked or computed, and its cost; do nothing.",
    ),
    on: str = typer.Option(
        None, help="Choice: spread over a Ray cluster: ray (this machine), ray:auto, ray:HOST:PORT."
    ),
    gpus_per_task: float = typer.Option(None, help="With --on: GPUs of each worker; default 0."),
    cpus_per_task: float = typer.Option(None, help="With --on: CPUs of each worker; default 1."),
    workers: int = typer.Option(None, min=1, help="With --on: at most so many at once."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run a study on models, or an experiment; the same command again goes on where it broke off.

    An experiment file says models and options itself. Exit code 3: some of its runs failed.
    """
    from felicity.cli.dry_runs import show_estimate, show_plans
    from felicity.study import Study, load_study

    if experiments.is_file(study):
        experiments.refuse_options(context)
        with place_of(on, gpus_per_task, cpus_per_task, workers) as place:
            experiments.run(Path(study), place, as_json)
        return
    if not model:
        raise OptionError(
            "got none; expected a model",
            where="--model",
            hint="`felicity models` shows how models are named",
        )
    if folder is not None and len(model) > 1:
        raise OptionError("got several models; expected one", where="--folder", hint="use --out")
    options = RunOptions(
        out=out,
        folder=folder,
        method=method,
        where=parse_where(where),
        limit=limit,
        device=device,
        device_map=device_map,
        dtype=dtype,
        dtype_sample=dtype_sample,
        threads=threads,
        trust_remote_code=trust_remote_code,
        format=format_name,
        prefix=prefix,
        batch_tokens=batch_tokens,
        promptings=tuple(prompting) or None,
        repeats=repeats,
        presentation=presentation,
        order=order,
        seed=seed,
        temperature=temperature,
        max_tokens=max_tokens,
        max_connections=max_connections,
        smoke=smoke,
        price_in=price_in,
        price_out=price_out,
        max_cost=max_cost,
        dry_run=dry_run,
    )
    loaded = load_study(study)
    if not isinstance(loaded, Study):
        from felicity.running import rated

        options.refuse("rating", {"--on": on})
        if dry_run:
            show_estimate(*rated.what_is_asked(loaded, options), options, as_json)
        else:
            _run_all(model, rated.prepare(loaded, options), as_json)
    elif method == "asked":
        from felicity.running import asked

        options.refuse("choice", {"--on with --method asked": on})
        if dry_run:
            show_estimate(*asked.what_is_asked(loaded, options), options, as_json)
        else:
            _run_all(model, asked.prepare(loaded, options), as_json)
    else:
        from felicity.running import scored

        with place_of(on, gpus_per_task, cpus_per_task, workers) as place:
            if dry_run:
                show_plans(loaded, model, options, place.kept, as_json)
            else:
                _run_all(model, scored.prepare(loaded, options, place.kept), as_json, place)


def _run_all(
    models: list[str],
    run_one: Callable[[str], dict[str, Any]],
    as_json: bool,
    place: Place | None = None,
) -> None:
    """Run each model; one that fails does not stop the others."""
    found: dict[str, dict[str, Any]] = {}

    def run_aloud(spec: str) -> None:
        try:
            found[spec] = {"model": spec, **run_one(spec)}
        except FelicityError as error:
            if len(models) == 1:
                raise
            note(f"error: {error}")
            found[spec] = {"model": spec, "error": str(error)}
            return
        if not as_json:
            print(Path(found[spec]["folder"]) / "responses.parquet")

    models = list(dict.fromkeys(models))
    (place or Place()).do_all([partial(run_aloud, spec) for spec in models])
    finished = [found[spec] for spec in models]
    failed = sum("error" in entry for entry in finished)
    if as_json:
        print_json({"runs": finished})
    elif not failed:
        note(f"the table: felicity report {' '.join(entry['folder'] for entry in finished)}")
    if failed:
        note(f"{failed} of {len(models)} models failed")
        raise typer.Exit(1)
