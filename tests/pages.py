"""Reports to look at: real runs of tiny models, and replies that would take the page over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import altair
import polars as pl

from felicity import open_participant, run
from felicity.asked.run import run_asked
from felicity.manifest import describe_study
from felicity.participants.chat import ChatInfo
from felicity.rating.parse import PARSER_VERSION, parse_reply
from felicity.rating.parsing import Parser
from felicity.rating.prompts import conversations
from felicity.rating.run import run_ratings
from felicity.report.content import ReportContent
from felicity.report.figures import Figure
from felicity.report.page import PAGE, build_page
from felicity.report.text_table import TextTable
from felicity.study import load_rating_study, load_study
from felicity.types import Message, Reply, Sampling

from rating_folders import write_rating_study

TITLE = "Which <b>answer</b> wins?"
SCRIPT = (
    "</script><script>document.title = 'taken'</script>"
    "<img src=x onerror=\"document.title='taken'\"> <!-- I say 5"
)
# Right-to-left letters, an override that would turn what follows, a zero width, a bell.
TURNED = "\u05d4\u05ea\u05e9\u05d5\u05d1\u05d4: 5 \u202eevil\u202c z\u200bero \x07 \U0001f600"
PLAIN = "I'd call it a 6, on a scale of 1 to 7."
REFUSAL = "As a language model I cannot rate people."


class Says:
    """A participant that gives one reply after the other."""

    def __init__(self, label: str, texts: Sequence[str], *, reasoning: str | None = None) -> None:
        self.info = ChatInfo(spec=f"fake:{label}", label=label, method="sampled", model=label)
        self.max_connections = 1
        self.texts, self.reasoning = texts, reasoning
        self.count = 0

    async def ask(self, messages: Sequence[Message], sampling: Sampling) -> Reply:
        text = self.texts[self.count % len(self.texts)]
        self.count += 1
        return Reply(
            text=text,
            reasoning=self.reasoning,
            finish="stop",
            model_id=self.info.model,
            effective=sampling,
            tokens_in=9,
            tokens_out=9,
            seconds=0.1,
        )

    async def close(self) -> None:
        pass


def content(title: str = TITLE, score: str | None = None) -> ReportContent:
    """A report as any study's, with a title that is no HTML."""
    numbers = pl.DataFrame({"model": ["a", "b"], "share": [0.25, 0.75], "n": [40, 38]})
    chart = (
        altair.Chart(numbers)
        .mark_point()
        .encode(x="share:Q", y="model:N", tooltip=["model", "share", "n"])
    )
    table = TextTable(
        name="table",
        title="Shares & such",
        header=("Participant", "Format", "Share", "Usable"),
        rows=(
            ("b", "plain", ".58 [.49, .67]", "9 of 40"),
            ("a", "names", "−.10 [−.20, .05]", "40 of 40"),
            ("c", "names", "–", "0 of 40"),
            ("People", "–", ".99 [.90, 1.00]", "100 answers"),
        ),
        people=1,
        note="In brackets 95 % intervals.",
        bold=frozenset({(0, 2)}),
    )
    figure = Figure(name="shares", title="Shares", caption="Over dialogues.", chart=chart)
    return ReportContent(
        title=title,
        ran=TextTable(name="ran", title="Ran", header=("Model", "Usable"), rows=(("a", "40"),)),
        headline=("The first wins in .58 [.49, .67] of items.", *("It is so.",) * 12),
        cautions=("Two <em>replies</em> are missing.",),
        tables=(table,),
        figures=(figure,),
        results=pl.DataFrame(),
        methods="One paragraph.\n\nAnother.",
        citations="@misc{x}",
        values={"score": score},
    )


def write_choice_page(folder: Path, model: Path) -> Path:
    """A model under two formats and one that was asked, on dialogues of all five maxims."""
    study = load_study("gricean-maxims")
    participant = open_participant(f"hf:{model}")
    runs = [
        run(
            study,
            participant,
            folder / name,
            format=name,
            where={"questioner": "Leslie", "responder": "Joan"},
        )
        for name in ("names", "plain")
    ]
    asked = run_asked(
        study,
        Says("told", ["A", "The silly one is B.", "I cannot say."]),
        folder / "asked",
        sampling=Sampling(),
        limit=12,
    )
    path = folder / PAGE
    path.write_text(build_page(content(), [*runs, asked], study), encoding="utf-8")
    return path


def write_rating_page(folder: Path) -> Path:
    """Two participants that rate; the first one's replies are hostile."""
    study = load_rating_study(write_rating_study(folder / "study"))
    hostile = Says("hostile <i>", [SCRIPT, TURNED, PLAIN, REFUSAL], reasoning="<u>Let me</u> see.")
    calm = Says("calm", ["2"])
    parser = Parser(parse=parse_reply, version=PARSER_VERSION)
    runs = [
        run_ratings(
            conversations(study, repeats=4),
            who,
            folder / f"run-{place}",
            sampling=Sampling(),
            manifest=describe_study(study),
            parser=parser,
            smoke=0,
        )
        for place, who in enumerate((hostile, calm))
    ]
    path = folder / PAGE
    path.write_text(build_page(content("Ratings"), runs, study), encoding="utf-8")
    return path
