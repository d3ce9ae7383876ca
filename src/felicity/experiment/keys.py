"""Every key of an experiment file, once: the reader and the JSON Schema are made from this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from felicity.types import METHODS, RATING_METHODS

Kind = Literal["text", "texts", "whole", "number", "flag", "levels", "words"]
KINDS: dict[Kind, str] = {
    "text": "text",
    "texts": "a list of texts",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "levels": "a table of factor to level, both text",
    "words": "a table of checkpoint to a whole number of words",
}
# How a run of a choice study can be asked, and one of a rating study.
CHOICE_METHODS: tuple[str, ...] = (*METHODS, "asked")
# A name that is a folder's, too.
NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key: what it takes and what it says.

    Attributes
    ----------
    allowed
        Values it takes, or each of its texts; anything where empty.
    least
        The smallest number.
    pattern
        What a text must look like.
    """

    name: str
    kind: Kind
    about: str
    allowed: tuple[str, ...] = ()
    least: int | None = None
    pattern: str | None = None
    needed: bool = False


def _key(name: str, kind: Kind, about: str, *allowed: str, least: int | None = None) -> Key:
    return Key(name=name, kind=kind, about=about, allowed=allowed, least=least)


EXPERIMENT = (
    Key(
        name="name",
        kind="text",
        about="Name of the experiment.",
        pattern=NAME,
        needed=True,
    ),
    _key("title", "text", "What it is about, in a line."),
    Key(
        name="studies",
        kind="texts",
        about="Built-in names, or folders beside this file. Each model takes part in each.",
        needed=True,
    ),
    _key("out", "text", "Folder of its runs, beside this file; runs/NAME if not given."),
)
SETTINGS = (
    _key(
        "methods",
        "texts",
        "How models are asked; each study takes those that fit it. By default what fits the "
        "architecture (choice) or sampled (rating).",
        *CHOICE_METHODS,
        *RATING_METHODS,
    ),
    _key("formats", "texts", "Choice: dialogue formats, a run each; the study's default."),
    _key("promptings", "texts", "Rating: only these promptings."),
    _key("repeats", "whole", "Rating: how often each question is put.", least=1),
    _key(
        "presentation",
        "text",
        "Rating: one attribute a request, or all in one conversation.",
        "single",
        "block",
    ),
    _key("order", "text", "Rating: of the attributes in a block.", "fixed", "random"),
    _key("where", "levels", "Only items with these factor levels, in studies with the factor."),
    _key("limit", "whole", "Only so many items (per prompting).", least=1),
    _key("prefix", "text", "Choice: what stands before a text: auto, bos, eos, none or an id."),
    _key("dtype", "text", "Of the weights.", "float32", "bfloat16", "float16"),
    _key("dtype_sample", "whole", "Choice: items compared with float32; 0 is none.", least=0),
    _key("device", "text", "auto, cpu, cuda, cuda:N or mps."),
    _key(
        "device_map",
        "text",
        "Choice: spread a big model over devices.",
        "auto",
        "balanced",
        "sequential",
    ),
    _key("threads", "whole", "Processor threads.", least=1),
    _key("batch_tokens", "whole", "Choice: tokens in one forward pass.", least=1),
    _key("trust_remote_code", "flag", "Run code that a model brings along."),
    _key("seed", "whole", "Chat: of sampling and of random order.", least=0),
    _key("temperature", "number", "Chat: the study's if not given.", least=0),
    _key("max_tokens", "whole", "Chat: longest reply.", least=1),
    _key("max_connections", "whole", "Chat: requests open at once.", least=1),
    _key("smoke", "whole", "Chat: first questions, to see that any works.", least=0),
    _key("price_in", "number", "Chat: price of a million tokens in.", least=0),
    _key("price_out", "number", "Chat: price of a million tokens out.", least=0),
    _key("max_cost", "number", "Chat: a run stops before it costs more.", least=0),
)
GROUP = (
    Key(name="name", kind="text", about="Name of the group.", pattern=NAME, needed=True),
    _key("title", "text", "What the group is called in tables."),
    _key("studies", "texts", "Only these of the experiment's studies."),
)
MODEL = (
    _key("id", "text", "embedded:NAME, hf:ID[@REVISION], hf:FOLDER or api:PROVIDER/MODEL."),
    _key("label", "text", "What it is called in tables and in its run folder's name."),
    _key("revisions", "texts", "Revisions of a hub id, a run each, in the order of training."),
    _key("checkpoints", "text", "In place of id: a pattern of folders beside this file."),
    _key("words", "words", "Words seen by each revision or checkpoint, where no name says it."),
    _key("words_file", "text", "The same as a CSV file with the columns checkpoint and words."),
    _key("words_per_step", "number", "Words in one step, for names like step1000.", least=0),
)
REPORT = (
    _key("out", "text", "Folder of the reports; OUT/report if not given."),
    _key(
        "score",
        "text",
        "Choice: what is compared.",
        "log_prob_mean",
        "log_prob_sum",
        "bits_per_character",
        "pmi",
    ),
    _key("unit", "text", "Rating: one of the study's units."),
    _key("weighting", "text", "Rating: how cells are averaged.", "pooled", "scenario-means"),
    _key("as_published", "flag", "Rating: the paper's one-digit parsing and its CCC."),
    _key("seed", "whole", "Of the resampling.", least=0),
)
TOP = ("experiment", "settings", "group", "report")
