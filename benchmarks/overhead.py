"""What a run takes beside the forward pass: imports, opening, planning, journal, statistics.

Does what `make demo` does, each command in a process of its own as a user starts it, and prints CPU
seconds by part: python benchmarks/overhead.py [--model SPEC] [--limit N] [--threads T]. With
--limit only so many items are run, which makes the share of all else larger than it is; without it
this is the demo.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LIMIT = 0.10
DEMO = Path(__file__).parents[1] / "examples" / "demo.toml"


def main() -> int:
    if sys.argv[1:2] == ["--inner"]:
        inner(sys.argv[2:])
        return 0
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", default="embedded:smollm2-135m")
    options.add_argument("--limit", type=int, help="only so many items in each run")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--json", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "demo.toml"
        file.write_text(demo(given, Path(place) / "runs"))
        rows = {"run": timed(["run", str(file)])}
        folders = sorted(str(path.parent) for path in Path(place).rglob("run.json"))
        rows["report"] = timed(["report", *folders, "--out", f"{place}/report"])
    return show(rows, given.json)


def demo(given: argparse.Namespace, out: Path) -> str:
    """Return the demo's experiment file with another model, place or number of items."""
    text = DEMO.read_text().replace("embedded:smollm2-135m", given.model)
    text = text.replace('out = "../runs/demo"', f'out = "{out}"')
    settings = [f"threads = {given.threads}"]
    settings += [f"limit = {given.limit}"] if given.limit else []
    assert str(out) in text
    return text + "\n[settings]\n" + "\n".join(settings) + "\n"


def timed(words: list[str]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--inner", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    parts: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return parts


def inner(words: list[str]) -> None:
    """Run one command with its parts timed; CPU time runs from the start of the process."""
    spent = {"open": 0.0, "plan": 0.0, "forward": 0.0}
    if words[0] == "run":
        from felicity import participants
        from felicity.cli import kept
        from felicity.participants.causal import CausalParticipant

        imported = time.process_time()
        kept.open_participant = count(participants.open_participant, spent, "open")
        CausalParticipant.plan = count(CausalParticipant.plan, spent, "plan")
        CausalParticipant._scores = count(CausalParticipant._scores, spent, "forward")
        spent["imports of torch"] = imported
    from felicity.cli import main as felicity

    try:
        felicity(words)
    except SystemExit as ended:
        if ended.code:
            raise
    spent["all"] = time.process_time()
    print(json.dumps(spent))


def count(function: Any, spent: dict[str, float], name: str) -> Any:
    def counted(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **options)
        finally:
            spent[name] += time.process_time() - start

    return counted


def show(rows: dict[str, dict[str, float]], place: Path | None) -> int:
    names = ["imports of torch", "open", "plan", "forward", "all"]
    print(f"{'CPU seconds':20s}" + "".join(f"{name:>18s}" for name in names))
    for row, parts in rows.items():
        print(f"{row:20s}" + "".join(f"{parts.get(name, 0.0):18.2f}" for name in names))
    whole = sum(parts["all"] for parts in rows.values())
    # The self-test's passes are within "open" and "forward"; they count as forward.
    forward = sum(parts.get("forward", 0.0) for parts in rows.values())
    share = 1 - forward / whole
    print(f"all but the forward pass: {share:.1%} of {whole:.1f} s (limit {LIMIT:.0%})")
    if place:
        place.write_text(json.dumps({"rows": rows, "share": share}, indent=1) + "\n")
    return 0 if share <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
