"""`felicity survey`: put a study to people, and take their answers in as its reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from felicity.cli.output import JSON_OPTION, note, print_json, print_table
from felicity.cli.studies import StudyArgument

if TYPE_CHECKING:
    from felicity.survey.take_in import Imported

app = typer.Typer(
    help="Put a study to people in the browser, and take their answers in as its reference.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@app.command()
def make(
    study: StudyArgument,
    out: Annotated[Path, typer.Option(help="The survey's folder.")],
    consent: Path = typer.Option(
        None, help="Consent text, paragraphs with an empty line between; default a template."
    ),
    texts: Path = typer.Option(
        None, help="TOML of all that the page says; default those of the study's language."
    ),
    title: str = typer.Option(None, help="What participants see as the title."),
    format_name: str = typer.Option(None, "--format", help="Choice: dialogue format."),
    per_level: int = typer.Option(
        None, min=1, help="Choice: so many dialogues of each level a participant; default all."
    ),
    checks: int = typer.Option(2, min=0, help="Attention checks."),
    ask: list[str] = typer.Option(
        [], help="Ask at the end: age, gender, languages; may be repeated."
    ),
    code: str = typer.Option(None, "--completion-code", help="Shown at the end."),
    url: str = typer.Option(None, "--completion-url", help="A link at the end."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Make a survey of a study: a folder with a page that works from anywhere."""
    from felicity.study import load_study
    from felicity.survey.content import SurveyOptions, read_consent, survey_content
    from felicity.survey.make import PAGE, write_survey
    from felicity.survey.texts import read_texts

    loaded = load_study(study)
    options = SurveyOptions(
        texts=read_texts(loaded.language, texts),
        consent=None if consent is None else read_consent(consent),
        title=title,
        format=format_name,
        per_level=per_level,
        checks=checks,
        ask=tuple(ask),
        code=code,
        url=url,
    )
    content = survey_content(loaded, options)
    write_survey(out, content)
    sizes = sorted({len(each) for each in content["lists"]})
    if as_json:
        told = {"lists": len(content["lists"]), "trials": sizes, "draft": content["draft"]}
        print_json({"page": str(out / PAGE), "survey": content["survey"], **told})
        return
    print(out / PAGE)
    spread = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    what = "dialogues" if content["paradigm"] == "choice" else "scenes"
    note(f"{len(content['lists'])} lists of {spread} {what}, {checks} attention checks")
    if content["draft"]:
        note(
            "the consent text is a template, and the page says so: write your own and give it "
            "with --consent"
        )
    note(f"to collect on this machine: felicity survey serve {out}")


@app.command()
def serve(
    folder: Annotated[Path, typer.Argument(help="A survey's folder.")],
    host: str = typer.Option("127.0.0.1", help="0.0.0.0 lets others in the network in."),
    port: int = typer.Option(8000, min=0, max=65535, help="0 takes any that is free."),
) -> None:
    """Serve a survey and collect the answers in FOLDER/answers.sqlite until interrupted."""
    from felicity.survey.make import read_survey
    from felicity.survey.serve import listen, serve_survey, survey_app
    from felicity.survey.store import ANSWERS, AnswerStore

    survey_app(folder)
    taken = listen(host, port)
    bound = taken.getsockname()[1]
    named = f"[{host}]" if ":" in host else host
    print(f"http://{named}:{bound}/", flush=True)
    if host not in LOOPBACK:
        note("others in this network can take part; answers go over it as they are (http)")
    if read_survey(folder).get("draft"):
        note("the consent text is still the template")
    try:
        serve_survey(folder, taken)
    finally:
        taken.close()
        if (folder / ANSWERS).is_file():
            with AnswerStore(folder / ANSWERS, read_only=True) as store:
                found = store.count()
            note(
                f"{found['begun']} sessions begun, {found['complete']} complete, "
                f"{found['rows']} rows in {folder / ANSWERS}"
            )


@app.command("import")
def take_in(
    files: Annotated[
        list[Path], typer.Argument(help="jsPsych's JSON or CSV, or a server's answers.sqlite.")
    ],
    study: Annotated[str, typer.Option(help="The study that was asked: a name, or a folder.")],
    out: Path = typer.Option(
        Path("reference.csv"), help="The reference; single answers and participants go beside it."
    ),
    group: str = typer.Option("People", help="Choice: what these people are called."),
    source: str = typer.Option(None, help="Choice: where they are from, for the reference."),
    allow_failed: int = typer.Option(
        0, min=0, help="Keep who failed at most so many attention checks."
    ),
    complete_only: bool = typer.Option(
        False, "--complete-only", help="Leave out sessions that did not come to their end."
    ),
    without: list[str] = typer.Option(
        [], help="Leave out this participant or session, such as one who withdrew; may be repeated."
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Turn people's answers into a study's reference; say who was left out, and why."""
    from felicity.study import load_study
    from felicity.survey.take_in import import_answers

    loaded = load_study(study)
    found = import_answers(
        files,
        loaded,
        group=group,
        source=source,
        allow_failed=allow_failed,
        complete_only=complete_only,
        without=without,
    )
    written = _write(found, out, loaded.paradigm)
    if as_json:
        reference = None if found.reference is None else found.reference.to_dicts()
        print_json({"counts": found.selection.counts(), "reference": reference, "files": written})
    else:
        _show(found)
    for path in written:
        note(f"wrote {path}")
    if found.short is not None:
        raise found.short
    note(f"beside a model: felicity report RUN --people {_people(out, loaded.paradigm)}")


def _people(out: Path, paradigm: str) -> Path:
    """Return the file that `felicity report --people` takes."""
    return out if paradigm == "choice" else out.with_name("ratings.csv")


def _write(found: Imported, out: Path, paradigm: str) -> list[str]:
    from felicity.errors import FelicityError

    answers = "answers.csv" if paradigm == "choice" else "ratings.csv"
    tables = {out.with_name(answers): found.answers}
    tables[out.with_name("participants.csv")] = found.participants
    if found.reference is not None:
        tables[out] = found.reference
    if len(tables) < 2 + (found.reference is not None):
        raise FelicityError(f"got {out.name}; expected another name", where="--out")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        for path, table in tables.items():
            table.write_csv(path)
    except OSError as error:
        raise FelicityError(f"cannot be written: {error}", where=str(out.parent)) from None
    return [str(path) for path in tables]


def _show(found: Imported) -> None:
    counts = found.selection.counts()
    left = [(name, n) for name, n in counts.items() if name.startswith("excluded: ") and n]
    rows = [
        ("Sessions", counts["sessions"]),
        ("Participants", counts["participants"]),
        *(("Left out, " + name.removeprefix("excluded: "), n) for name, n in left),
        ("Kept", counts["kept"]),
        ("Kept though incomplete", counts["incomplete_kept"]),
    ]
    print_table(("", "Number"), [(name, str(number)) for name, number in rows])
    if found.left_out:
        note(f"{found.left_out} rows were left out before all checks, as told")
    if found.reference is None or "correct" not in found.reference.columns:
        print(f"Rated scenes: {found.answers.height}")
        return
    factor = found.reference.columns[1]
    print_table(
        (factor.capitalize(), "Correct", "Asked", "Share"),
        [
            (
                row[factor],
                *(str(row[name]) for name in ("correct", "asked")),
                f"{row['correct'] / row['asked']:.2f}",
            )
            for row in found.reference.to_dicts()
        ],
    )
