"""`felicity run --dry-run`: what would be computed or asked, and what it may cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from felicity.cli.output import note, print_json
from felicity.rating.cost import estimate
from felicity.running.chat import prices_of
from felicity.running.kept import Kept
from felicity.running.options import RunOptions
from felicity.study import Study
from felicity.types import Conversation, Sampling


def show_plans(
    study: Study, specs: Sequence[str], options: RunOptions, kept: Kept, as_json: bool
) -> None:
    """Say what each model would have to compute, and score nothing."""
    from felicity.runner import plan_run
    from felicity.running import scored

    scored.prepare(study, options, kept)
    plans = []
    for spec in specs:
        participant = kept.get(spec, options)
        tokens = plan_run(
            study,
            participant,
            format=options.format,
            where=options.where,
            limit=options.limit,
        )
        plans.append({"model": spec, "method": participant.info.method, **asdict(tokens)})
        if not as_json:
            print(f"{spec}: {tokens}")
    kept.let_go()
    if as_json:
        print_json({"plans": plans})


def show_estimate(
    conversations: Sequence[Conversation], sampling: Sampling, options: RunOptions, as_json: bool
) -> None:
    """Say what would be asked and what it may cost; ask nothing."""
    found = estimate(conversations, prices_of(options), sampling=sampling)
    if as_json:
        print_json(asdict(found))
        return
    for messages in found.samples:
        for message in messages:
            print(f"[{message.role}]\n{message.content}\n")
        print("-" * 72)
    low, high = found.tokens_in
    print(f"{found.calls} calls")
    print(f"about {low if low == high else f'{low} to {high}'} tokens in (4 characters each)")
    print(f"{found.tokens_out[0]} to {found.tokens_out[1]} tokens out")
    if found.cost is None:
        note("for the cost give --price-in and --price-out, for a million tokens each")
    else:
        print(f"{found.cost[0]:.2f} to {found.cost[1]:.2f} {found.currency}")
