"""What a run takes beside the forward pass: imports, opening, planning, journal, statistics.

Does what `make demo` does, each command in a process of its own as a user starts it, and prints
seconds by part, of the processor and by the clock:
python benchmarks/overhead.py [--model SPEC] [--limit N] [--threads T]. With --limit only so many
items are run, which makes the share of all else larger than it is; without it this is the demo.
More threads shorten the forward pass by the clock, and nothing else.
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
PARTS = ["imports", "open", "plan", "forward", "all"]
DEMO = Path(__file__).parents[1] / "examples" / "demo.toml"


def main() -> int:
    if sys.argv[1:2] == ["--inner"]:
        inner(float(sys.argv[2]), sys.argv[3:])
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


def timed(words: list[str]) -> dict[str, dict[str, float]]:
    done = subprocess.run(
        [sys.executable, __file__, "--inner", str(time.time()), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    parts: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return parts


def inner(began: float, words: list[str]) -> None:
    """Run one command with its parts timed, from the start of the process."""
    cpu, clock = dict.fromkeys(PARTS, 0.0), dict.fromkeys(PARTS, 0.0)

    def count(function: Any, name: str) -> Any:
        def counted(*arguments: Any, **options: Any) -> Any:
            used, start = time.process_time(), time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                cpu[name] += time.process_time() - used
                clock[name] += time.perf_counter() - start

        return counted

    if words[0] == "run":
        from felicity.participants.causal import CausalParticipant
        from felicity.participants.opening import Opening

        cpu["imports"], clock["imports"] = time.process_time(), time.time() - began
        Opening.open = count(Opening.open, "open")
        CausalParticipant.plan = count(CausalParticipant.plan, "plan")
        CausalParticipant._scores = count(CausalParticipant._scores, "forward")
    from felicity.cli import main as felicity

    try:
        felicity(words)
    except SystemExit as ended:
        if ended.code:
            raise
    cpu["all"], clock["all"] = time.process_time(), time.time() - began
    print(json.dumps({"CPU": cpu, "clock": clock}))


def show(rows: dict[str, dict[str, dict[str, float]]], place: Path | None) -> int:
    """Print the parts and shares; return 0 where the share of CPU seconds is within the limit."""
    shares = {}
    for kind in ("CPU", "clock"):
        print(f"{kind + ' seconds':20s}" + "".join(f"{name:>10s}" for name in PARTS))
        for row, parts in rows.items():
            print(f"{row:20s}" + "".join(f"{parts[kind][name]:10.2f}" for name in PARTS))
        whole = sum(parts[kind]["all"] for parts in rows.values())
        # The self-test's passes are within "open" and "forward"; they count as forward.
        forward = sum(parts[kind]["forward"] for parts in rows.values())
        shares[kind] = 1 - forward / whole
        print(f"all but the forward pass: {shares[kind]:.1%} of {whole:.1f} s (limit {LIMIT:.0%})")
    if place:
        place.write_text(json.dumps({"rows": rows, "shares": shares}, indent=1) + "\n")
    return 0 if shares["CPU"] <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
