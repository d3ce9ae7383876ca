"""Decisions: appended, undone by a row, never lost, and what they come to."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from felicity.build.agreement import pair_agreements, verdicts_of
from felicity.build.decisions import DECISIONS, Decision, DecisionStore, read_decisions
from felicity.build.outcome import decide, shown_digest
from felicity.build.wording import Wording
from felicity.errors import OptionError, RunError

LINES = tuple(
    Wording(dialogue_id="q-01-1", template_id="q-01", maxim="q", wording=wording,
            question=question, follower="A bird.", violator="A stone.")
    for wording, question in (("0", "Who sang?"), ("1", "Who was singing?"), ("2", "Who sings?"))
)  # fmt: skip
SHOWN = shown_digest(LINES)


def decision(kind="accept", annotator="ann", **more):
    return Decision(**{"annotator": annotator, "dialogue_id": "q-01-1", "kind": kind,
                       "shown": SHOWN, **more})  # fmt: skip


def reject(annotator="ann", **more):
    return decision("reject", annotator, reasons=("unnatural",), **more)


def states(*decisions):
    numbered = [Decision(**{**fields(d), "number": n}) for n, d in enumerate(decisions, start=1)]
    return [outcome.state for outcome in decide(LINES, numbered)]


def fields(value):
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([], ["undecided"] * 3),
        ([decision()], ["accepted"] * 3),
        ([reject()], ["rejected"] * 3),
        ([reject(), decision()], ["accepted"] * 3),
        ([decision(), reject(wording="1")], ["accepted", "rejected", "accepted"]),
        ([reject(wording="1")], ["undecided", "rejected", "undecided"]),
        ([decision(), reject("bo")], ["disputed"] * 3),
        ([decision(), decision(annotator="bo")], ["accepted"] * 3),
        ([decision(), reject("bo"), reject("cy", role="adjudicator")], ["rejected"] * 3),
        ([decision(), decision("undo", undoes=1)], ["undecided"] * 3),
        ([decision("choose", chosen="violator")], ["undecided"] * 3),
        ([decision("edit", texts={"violator": "A rock."})], ["edited"] * 3),
        (
            [decision("edit", wording="1", texts={"question": "Who had sung?"})],
            ["undecided", "edited", "undecided"],
        ),
        (
            [decision("edit", texts={"violator": "A rock."}), decision(annotator="bo")],
            ["disputed"] * 3,
        ),
        (
            [decision("edit", texts={"violator": "A rock."}),
             decision("edit", "bo", texts={"violator": "A rock."})],
            ["edited"] * 3,
        ),
        ([decision(shown="another text")], ["undecided"] * 3),
    ],
)  # fmt: skip
def test_what_decisions_come_to(decisions, expected):
    assert states(*decisions) == expected


def test_an_edit_gives_the_new_text_and_keeps_the_old():
    edit = decision("edit", texts={"violator": "A rock.", "question": "Who did sing?"}, number=1)
    outcomes = decide(LINES, [edit])
    assert [o.line.violator for o in outcomes] == ["A rock."] * 3
    assert [o.line.question for o in outcomes] == [
        "Who did sing?",
        "Who was singing?",
        "Who sings?",
    ]
    assert outcomes[0].changed == {"violator": "A stone.", "question": "Who sang?"}
    assert outcomes[1].changed == {"violator": "A stone."}


def test_the_file_refuses_changes_and_keeps_everything(tmp_path):
    path = tmp_path / DECISIONS
    with DecisionStore(path) as store:
        first = store.add(reject(comment="odd\n“word”"))
        store.undo(first, "ann")
        store.add(decision("choose", chosen="violator", shown_first="follower"))
        with pytest.raises(RunError):
            store.undo(first, "ann")
        with pytest.raises(RunError, match="no decision 1 of bo"):
            store.undo(first, "bo")
        with pytest.raises(RunError, match="no decision 2 of ann"):
            store.undo(2, "ann")
    with sqlite3.connect(path) as db:
        for statement in ("UPDATE decisions SET comment = ''", "DELETE FROM decisions"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                db.execute(statement)
    db.close()
    rows = read_decisions(tmp_path)
    assert [d.kind for d in rows] == ["reject", "undo", "choose"]
    assert rows[0].reasons == ("unnatural",)
    assert rows[0].comment == "odd\n“word”"
    assert all(d.created for d in rows)
    assert states(*rows) == ["undecided"] * 3


def test_the_first_choice_counts_even_where_it_was_undone(tmp_path):
    with DecisionStore(tmp_path / DECISIONS) as store:
        first = store.add(decision("choose", chosen="follower"))
        store.undo(first, "ann")
        store.add(decision("choose", chosen="violator"))
        assert [d.chosen for d in store.current() if d.kind == "choose"] == ["follower"]


def test_annotators_at_once_lose_nothing(tmp_path):
    path = tmp_path / DECISIONS
    DecisionStore(path).__exit__(None, None, None)

    def work(name):
        with DecisionStore(path) as store:
            for number in range(15):
                store.add(decision(annotator=name, comment=str(number)))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "bo", "cy")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = read_decisions(tmp_path)
    for name in ("ann", "bo", "cy"):
        assert [d.comment for d in rows if d.annotator == name] == list(map(str, range(15)))


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        ({"annotator": " "}, 'annotator: got " "; expected a name'),
        ({"kind": "like"}, 'kind: got "like"; expected one of choose, accept, edit, reject, undo'),
        ({"kind": "reject"}, "reasons: got"),
        ({"reasons": ("ugly",)}, "expected one of follower_does_not_follow"),
        ({"reasons": ("unnatural",)}, "one or more for reject, none for anything else"),
        ({"kind": "choose"}, 'chosen: got "None"; expected follower or violator for choose'),
        ({"chosen": "follower"}, "chosen"),
        ({"kind": "edit"}, "expected one of question, follower, violator for edit"),
        ({"kind": "edit", "texts": {"question": " "}}, "texts that are not empty"),
        ({"kind": "edit", "texts": {"maxim": "x"}}, "texts"),
        ({"kind": "undo"}, "a decision's number for undo"),
        ({"role": "boss"}, "one of annotator, adjudicator"),
        ({"shown_first": "left"}, "one of follower, violator"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(tmp_path, bad, text):
    with DecisionStore(tmp_path / DECISIONS) as store:
        with pytest.raises(OptionError) as caught:
            store.add(decision(**bad))
        assert text in str(caught.value)
        assert store.decisions() == []


def test_another_kind_of_file_is_not_opened(tmp_path):
    from felicity.rating.journal import ReplyJournal

    with DecisionStore(tmp_path / DECISIONS):
        pass
    with pytest.raises(RunError, match="journal schema 201"):
        ReplyJournal(tmp_path / DECISIONS)


def test_agreement_is_of_lines_that_both_have_judged():
    decisions = [decision(), reject("bo", wording="1"), decision(annotator="bo", wording="0"),
                 decision(annotator="cy", role="adjudicator")]  # fmt: skip
    [pair] = pair_agreements(verdicts_of(LINES, decisions))
    assert (pair.annotators, pair.lines, pair.same) == (("ann", "bo"), 2, 1)
    assert pair.kappa == 0.0


def test_kappa_is_that_of_statsmodels():
    from statsmodels.stats.inter_rater import cohens_kappa as reference

    from felicity.build.agreement import cohens_kappa

    pairs = [("keep", "keep")] * 17 + [("keep", "reject")] * 3 + [("reject", "reject")] * 4
    pairs += [("reject", "keep")] * 2
    assert cohens_kappa(pairs) == pytest.approx(reference([[17, 3], [2, 4]]).kappa)
    assert cohens_kappa([("keep", "keep")] * 5) is None
