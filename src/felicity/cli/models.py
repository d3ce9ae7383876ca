"""`felicity models` and `doctor`."""

from __future__ import annotations

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table


def models(
    fetch: str = typer.Option(None, metavar="NAME", help="Fetch an embedded model (or all)."),
    as_json: bool = JSON_OPTION,
) -> None:
    """List the embedded models, and say how any other is named."""
    from felicity.participants.embedded import (
        EMBEDDED,
        embedded_model,
        fetch_embedded,
        is_fetched,
    )

    if fetch:
        wanted = EMBEDDED.values() if fetch == "all" else [embedded_model(fetch)]
        for model in wanted:
            note(f"{model.name}: {fetch_embedded(model, note)}")
    rows = [
        {
            "spec": f"embedded:{model.name}",
            "label": model.label,
            "about": model.about,
            "licence": model.licence,
            "fetched": is_fetched(model),
        }
        for model in EMBEDDED.values()
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        ("Model", "About", "Licence", "Fetched"),
        [
            (str(r["spec"]), str(r["about"]), str(r["licence"]), "yes" if r["fetched"] else "no")
            for r in rows
        ],
        left=4,
    )
    print("Any other: hf:HUB_ID[@REVISION], hf:FOLDER, or hf:FOLDER/NAME.gguf")


def doctor(as_json: bool = JSON_OPTION) -> None:
    """Check that this machine has what Felicity needs."""
    from felicity.diagnosis import diagnose

    checks = diagnose()
    if as_json:
        print_json([{"name": c.name, "ok": c.ok, "found": c.found, "hint": c.hint} for c in checks])
    else:
        print_table(
            ("Check", "", "Found", "What to do"),
            [(c.name, "ok" if c.ok else "--", c.found, "" if c.ok else c.hint) for c in checks],
            left=4,
        )
    if not all(check.ok for check in checks if check.needed):
        raise typer.Exit(1)
