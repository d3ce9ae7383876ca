"""`felicity parse`."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table
from felicity.errors import Fault, FaultsError, OptionError
from felicity.types import Scale

_SCALE = re.compile(r"\s*([+-]?\d+)\s*(?:-|–|\.\.|:)\s*([+-]?\d+)\s*")
_AROUND = 30


class _Line(NamedTuple):
    reply: str
    finish: str
    reasoning: str | None


def parse(
    run: Annotated[
        Path | None, typer.Argument(help="A rating run, to parse its replies anew, without a call.")
    ] = None,
    replies: Path = typer.Option(
        None, help="JSONL with reply and finish, and reasoning where there is some."
    ),
    scale: str = typer.Option(None, help="The scale asked for: 1-7, 0-100, -3..3."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Read ratings out of replies: a value or none, and why."""
    from felicity.rating import parse_reply

    if (run is None) == (replies is None):
        raise OptionError(
            f"got {'neither' if run is None else 'both'}; expected a run or --replies",
            where="felicity parse",
            hint="felicity parse RUN, or felicity parse --replies FILE --scale 1-7",
        )
    if run is not None:
        _parse_run(run, as_json)
        return
    assert replies is not None
    asked = parse_scale(scale)
    lines = _read_lines(replies)
    parsed = [
        parse_reply(line.reply, line.finish, asked, reasoning=line.reasoning) for line in lines
    ]
    if as_json:
        print_json([{"value": one.value, "status": one.status} for one in parsed])
        return
    print_table(
        ("Reply", "Status", "Value"),
        [
            (
                _excerpt(line.reply, one.span),
                one.status,
                "" if one.value is None else str(one.value),
            )
            for line, one in zip(lines, parsed, strict=True)
        ],
        left=2,
    )
    counts = Counter(one.status for one in parsed)
    others = "".join(f", {count} {status}" for status, count in counts.items() if status != "ok")
    note(f"{counts['ok']} of {len(parsed)} usable{others}")


def _parse_run(folder: Path, as_json: bool) -> None:
    """Parse a run's replies anew; say how many got which status, before and after."""
    from felicity.asked.run import is_asked_run, read_asked, reparse_asked
    from felicity.manifest import read_manifest
    from felicity.rating.parsers import parser_of
    from felicity.rating.run import read_ratings, reparse

    if is_asked_run(read_manifest(folder)):
        tables = [read_asked(folder).trials, reparse_asked(folder).trials]
    else:
        before = read_ratings(folder)
        after = reparse(folder, parser_of(str(before.manifest["participant"]["method"])))
        tables = [before.responses, after.responses]
    counts = [dict(sorted(table["status"].value_counts().iter_rows())) for table in tables]
    if as_json:
        version = read_manifest(folder)["parser_version"]
        print_json({"parser_version": version, "before": counts[0], "after": counts[1]})
        return
    print_table(
        ("Status", "Before", "After"),
        [
            (status, *(str(count.get(status, 0)) for count in counts))
            for status in sorted({*counts[0], *counts[1]})
        ],
    )


def parse_scale(text: str | None) -> Scale:
    """Parse a scale written as LOW-HIGH or LOW..HIGH.

    Examples
    --------
    >>> parse_scale("-3..3").low, parse_scale("0-100").high
    (-3, 100)
    """
    match = _SCALE.fullmatch(text or "")
    ends = (int(match[1]), int(match[2])) if match else None
    if ends is None or ends[0] >= ends[1]:
        raise OptionError(
            f"got {json.dumps(text, ensure_ascii=False) if text else 'nothing'}; "
            "expected LOW-HIGH or LOW..HIGH, low end first",
            where="--scale",
            hint="1-7, 0-100 or -3..3",
        )
    return Scale(low=ends[0], high=ends[1])


def _read_lines(path: Path) -> list[_Line]:
    """Read replies; every bad line is a fault."""
    name = path.name
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        got = f"a byte that is not UTF-8 at {error.start}"
        raise FaultsError(
            [Fault(file=name, field="encoding", got=got, allowed="UTF-8")], where=str(path)
        ) from None
    except OSError as error:
        raise OptionError(
            f'got "{path}" ({error.strerror}); expected a readable file', where="--replies"
        ) from None
    lines, faults = [], []
    for number, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        row, found = _read_line(name, number, raw)
        faults.extend(found)
        if row is not None:
            lines.append(row)
    if not lines and not faults:
        faults.append(Fault(file=name, field="rows", got="0", allowed="at least one row"))
    if faults:
        raise FaultsError(
            faults, where=str(path), hint='a line is {"reply": "6", "finish": "stop"}'
        )
    return lines


def _read_line(name: str, number: int, raw: str) -> tuple[_Line | None, list[Fault]]:
    def fault(field: str, got: object, allowed: str) -> Fault:
        return Fault(file=name, line=number, field=field, got=str(got)[:80], allowed=allowed)

    try:
        row: Any = json.loads(raw)
    except (json.JSONDecodeError, RecursionError) as error:
        got = f"{error.msg} at column {error.colno}" if isinstance(error, ValueError) else error
        return None, [fault("line", got, "JSON")]
    if not isinstance(row, dict):
        return None, [fault("line", type(row).__name__, "a JSON object")]
    faults = []
    # A provider sends null where the model wrote nothing.
    if not ("reply" in row and isinstance(row["reply"], str | None)):
        faults.append(fault("reply", row.get("reply", "nothing"), "text, or null for none"))
    if not (isinstance(row.get("finish"), str) and row["finish"].strip()):
        faults.append(fault("finish", row.get("finish", "nothing"), "text, as stop or length"))
    if not isinstance(row.get("reasoning"), str | None):
        faults.append(fault("reasoning", row["reasoning"], "text, or null for none"))
    if faults:
        return None, faults
    return _Line(row["reply"] or "", row["finish"], row.get("reasoning")), []


def _excerpt(reply: str, span: tuple[int, int] | None) -> str:
    """Show the part of a reply that decided, on one line, the number between ›…‹."""
    start, end = span or (0, 0)
    first, last = max(0, start - _AROUND), end + (_AROUND if span else 2 * _AROUND)
    marked = f"›{reply[start:end]}‹" if span else ""
    text = " ".join((reply[first:start] + marked + reply[end:last]).split())
    # JSON can hold half of a surrogate pair, which no terminal can print.
    text = text.encode("utf-8", "replace").decode()
    return f"{'…' if first else ''}{text}{'…' if last < len(reply) else ''}"
