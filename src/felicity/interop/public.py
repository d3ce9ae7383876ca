"""Public sets of items, whose columns are known. Each reads the user's own copy."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from felicity.errors import Fault, one_of
from felicity.folder_reader import Row
from felicity.interop.materials import ITEM_ID, QUESTION, UNIT, Materials, levels_of

# The names that the Gricean paper gives the maxims, and ours with their short titles.
MAXIMS = {
    "be informative": ("quantity_1", "Quantity I"),
    "avoid redundant information": ("quantity_2", "Quantity II"),
    "be truthful": ("quality", "Quality"),
    "be relevant": ("relation", "Relation"),
    "be polite": ("politeness", "Politeness"),
}
OPTION = re.compile(r"^(\d+)\)\s*(.+)$", re.MULTILINE)


def gricean_csv(rows: list[Row], file: str, faults: list[Fault]) -> Materials | None:
    """Read columns question, follower, violator, maxim; rows with the same answers are a unit."""
    lowered = [(line, {name.strip().lower(): v for name, v in row.items()}) for line, row in rows]
    if not _has(lowered, ("question", "follower", "violator", "maxim"), file, faults):
        return None
    by_key = {key: (key, short, gloss) for gloss, (key, short) in MAXIMS.items()}
    units: dict[tuple[str, ...], str] = {}
    seen: Counter[str] = Counter()
    made = []
    for line, row in lowered:
        written = row["maxim"].strip()
        key = MAXIMS.get(written.lower(), (written, ""))[0]
        if key not in by_key:
            allowed = one_of([*(gloss.capitalize() for gloss in MAXIMS), *by_key])
            faults.append(Fault(file=file, line=line, field="maxim", got=written, allowed=allowed))
            continue
        pair = (key, row["follower"].strip(), row["violator"].strip())
        unit = units.setdefault(pair, f"{key}-{sum(k[0] == key for k in units) + 1:03d}")
        made.append((line, {**row, "maxim": key, UNIT: unit, "wording": str(seen[unit])}))
        seen[unit] += 1
    # Ids and units of a table that Felicity exported are kept.
    own = {ITEM_ID, UNIT} <= set(lowered[0][1])
    for (_, row), (_, source) in zip(made, lowered, strict=False):
        if own:
            row |= {name: source[name] for name in (ITEM_ID, UNIT)}
            row["wording"] = source.get("wording", row["wording"])
        else:
            row[ITEM_ID] = f"{row[UNIT]}-w{row['wording']}"
    even = len(set(seen.values())) == 1 and not own
    present = {row["maxim"] for _, row in made}
    return Materials(
        rows=tuple(made),
        answers=("follower", "violator"),
        factor="maxim",
        levels=tuple(level for key, level in by_key.items() if key in present),
        context="{question}",
        variants=(("wording",),) if even and max(seen.values(), default=1) > 1 else (),
    )


def blimp(rows: list[Row], file: str, faults: list[Fault]) -> Materials | None:
    """Read columns sentence_good, sentence_bad, and if there UID and pairID; no context."""
    if not _has(rows, ("sentence_good", "sentence_bad"), file, faults):
        return None
    made = []
    for number, (line, row) in enumerate(rows):
        paradigm = row.get("UID") or file.rsplit(".", 1)[0]
        item_id = f"{paradigm}-{row.get('pairID') or number}"
        kept = {k: v for k, v in row.items() if not k.startswith("sentence_")}
        texts = {"good": row["sentence_good"], "bad": row["sentence_bad"]}
        made.append((line, {**kept, **texts, "UID": paradigm, ITEM_ID: item_id, UNIT: item_id}))
    return Materials(
        rows=tuple(made),
        answers=("good", "bad"),
        factor="UID",
        levels=levels_of(made, "UID"),
        context="",
        answer="{answer}",
    )


def hu_2023(rows: list[Row], file: str, faults: list[Fault]) -> Materials | None:
    """Read the prompts of Hu et al. (2023): a story and its options, of which one is right.

    The options are taken out of the prompt; their order does not matter, since each is scored by
    itself after the story. Where several prompts (seeds) of an item are there, the first counts.
    """
    needed = ("phenomenon", "item_id", "content", "prompt", "randomized_true_answer")
    if not _has(rows, needed, file, faults):
        return None
    made: dict[str, Row] = {}
    labels: dict[str, None] = {"target": None}
    for line, row in rows:
        item_id = f"{row['phenomenon']}-{row['item_id']}"
        if row.get("is_example", "").lower() == "true" or item_id in made:
            continue
        options = _options(line, row, file, faults)
        labels |= dict.fromkeys(options)
        made[item_id] = (
            line,
            {
                **options,
                QUESTION: row["content"].strip(),
                "phenomenon": row["phenomenon"],
                ITEM_ID: item_id,
                UNIT: item_id,
            },
        )
    kept = tuple(made.values())
    return Materials(
        rows=kept,
        answers=tuple(labels),
        factor="phenomenon",
        levels=levels_of(kept, "phenomenon"),
        context="{question}",
    )


def _options(line: int, row: Mapping[str, str], file: str, faults: list[Fault]) -> dict[str, str]:
    """Return the options by label, the right one as ``target``."""

    def fault(field: str, got: str, allowed: str) -> dict[str, str]:
        faults.append(Fault(file=file, line=line, field=field, got=got[:80], allowed=allowed))
        return {}

    # What stands before the last story is the task, and perhaps examples.
    options = [text.strip() for _, text in OPTION.findall(row["prompt"])]
    answer = row["randomized_true_answer"].strip()
    if len(options) < 2:
        return fault("prompt", f"{len(options)} options", "two or more lines such as 1) …")
    if not answer.isdecimal() or not 1 <= int(answer) <= len(options):
        return fault("randomized_true_answer", answer, f"1 to {len(options)}")
    names = _names(row.get("randomized_labels_complex", ""), len(options))
    found: dict[str, str] = {}
    for number, (name, text) in enumerate(zip(names, options, strict=True), start=1):
        label = "target" if number == int(answer) else name
        same = sum(other.rstrip("0123456789_") == label for other in found)
        found[f"{label}_{same + 1}" if same else label] = text
    return found


def _names(written: str, count: int) -> list[str]:
    """Read the labels of the options; ``other`` where there are none."""
    try:
        names = [str(name) for name in ast.literal_eval(written)]
    except (ValueError, SyntaxError):
        names = []
    return names if len(names) == count else ["other"] * count


def scalar_diversity(rows: list[Row], file: str, faults: list[Fault]) -> Materials | None:
    """Read columns sentence, weak, strong, and if there class.

    The question is the one of van Tiel et al. (2016): somebody says a sentence with the weaker
    word; does it follow that the stronger one does not hold? "Yes." is the implicature.
    """
    if not _has(rows, ("sentence", "weak", "strong"), file, faults):
        return None
    made = []
    for line, row in rows:
        weak, strong, sentence = (row[name].strip() for name in ("weak", "strong", "sentence"))
        if weak.lower() not in sentence.lower():
            allowed = f'a sentence with "{weak}"'
            faults.append(
                Fault(file=file, line=line, field="sentence", got=sentence, allowed=allowed)
            )
        scale = f"{weak}/{strong}"
        question = (
            f'John says: "{sentence}" Would you conclude from this that, according to John, it is '
            f"not {strong}?"
        )
        kept = {name: value for name, value in row.items() if name != QUESTION}
        made.append(
            (line, {**kept, QUESTION: question, "yes": "Yes.", "no": "No.", UNIT: scale,
                    "class": row.get("class", "").strip() or "all"})
        )  # fmt: skip
    seen: Counter[str] = Counter()
    for _, row in made:
        row[ITEM_ID] = f"{row[UNIT]}-{seen[row[UNIT]]}"
        seen[row[UNIT]] += 1
    return Materials(
        rows=tuple(made),
        answers=("yes", "no"),
        factor="class",
        levels=levels_of(made, "class"),
        context="{question}",
    )


def _has(rows: Sequence[Row], columns: Sequence[str], file: str, faults: list[Fault]) -> bool:
    header = set(rows[0][1])
    missing = [column for column in columns if column not in header]
    faults.extend(
        Fault(file=file, field="columns", got=", ".join(sorted(header))[:80], allowed=name)
        for name in missing
    )
    return not missing
