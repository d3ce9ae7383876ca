"""The server of the page: who may ask, what is told to whom, and that nothing is lost."""

from __future__ import annotations

import json
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from felicity.build.adding import NewSet, start_build
from felicity.build.curation.office import Office
from felicity.build.curation.server import open_server
from felicity.build.curation.views import answer_order
from felicity.build.decisions import read_decisions
from felicity.build.folder import read_build
from felicity.errors import FelicityError, OptionError, RunError

from curating import serving, small_set

HARD = "unnatural"
FIRST = "quality-01-1"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("curation") / "set"
    small_set(folder)
    with serving(folder) as client:
        yield folder, client


@pytest.fixture
def fresh(tmp_path):
    small_set(tmp_path / "set")
    with serving(tmp_path / "set") as client:
        yield tmp_path / "set", client


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 200),
        ("GET", {"Host": "localhost:{port}"}, 200),
        ("GET", {"Origin": "http://{host}"}, 200),
        ("GET", {"Host": "evil.example:{port}"}, 403),
        ("GET", {"Host": "127.0.0.1"}, 403),
        ("GET", {"Host": "127.0.0.1:{port}.evil.example"}, 403),
        ("GET", {"Host": None}, 400),
        ("GET", {"Origin": "http://evil.example"}, 403),
        ("GET", {"Origin": "null"}, 403),
        ("GET", {"Origin": "https://{host}"}, 403),
        ("GET", {"Sec_Fetch_Site": "cross-site"}, 403),
        ("GET", {"Sec_Fetch_Site": "same-site"}, 403),
        ("POST", {}, 422),
        ("POST", {"Origin": None}, 403),
        ("POST", {"Origin": "http://localhost:{port}"}, 403),
        ("POST", {"Origin": "http://evil.example"}, 403),
        ("POST", {"Content_Type": "text/plain"}, 415),
        ("POST", {"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", {"Content_Length": None}, 411),
    ],
)
def test_only_the_page_may_ask(made, method, headers, status):
    _, client = made
    host = urlsplit(client.address).netloc
    sent = {
        name: text and text.format(host=host, port=host.split(":")[1])
        for name, text in headers.items()
    }
    path = client.at("api/show" if method == "GET" else "api/decide")
    got, given, _ = client.ask(method, path, {} if method == "POST" else None, **sent)
    assert got == status
    if status != 400:  # answered by the HTTP library, before anything of ours
        assert given["content-security-policy"].startswith("default-src 'none'")
        assert given["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in given


@pytest.mark.parametrize("path", ["/", "/wrong/", "/wrong/api/show", "//", "/api/show", "/%00/"])
def test_a_wrong_token_is_refused(made, path):
    status, _, text = made[1].ask("GET", path)
    assert status == 403
    assert "open the address it printed" in text


def test_the_server_listens_on_the_loopback_alone(made):
    served = open_server(Office(made[0]))
    assert served.listener.getsockname()[0] == "127.0.0.1"
    assert len(urlsplit(served.address).path) > 30
    port = served.listener.getsockname()[1]
    with pytest.raises(OptionError, match=f"--port: got {port}; it cannot be used"):
        open_server(Office(made[0]), port)
    served.listener.close()


def test_other_ways_in_are_closed(made):
    _, client = made
    parts = urlsplit(client.address)
    for method in ("PUT", "DELETE", "OPTIONS"):
        assert client.ask(method, client.at("api/decide"))[0] == 405
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as line:
        line.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )
        assert b"101" not in line.recv(4096).splitlines()[0]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"{", 400, "expected JSON"),
        (b"\xff", 400, "expected JSON"),
        (b"[" * 60_000, 400, "expected JSON"),
        (b"[]", 422, "expected a JSON object"),
        (b'"' + b"a" * 70_000 + b'"', 413, "at most 65536 bytes"),
        ({"annotator": ""}, 422, "expected a name"),
        ({"annotator": "a\u0000b"}, 422, "expected a name"),
        ({"annotator": "a", "role": "boss"}, 422, "expected one of annotator, adjudicator"),
        ({"annotator": "a", "dialogue": "x"}, 422, "expected a dialogue of the set"),
        ({"annotator": "a", "dialogue": FIRST, "kind": "choose", "shown": "x"}, 422, "shown"),
        ({"annotator": "a", "dialogue": FIRST, "kind": "accept"}, 409, "choose first"),
        ({"annotator": "a", "dialogue": FIRST, "kind": "choose", "shown": "0" * 12, "chosen": 2},
         422, "expected 0 or 1"),
        ({"annotator": "a", "dialogue": FIRST, "kind": 7}, 422, "expected a text"),
        ({"annotator": "a", "dialogue": FIRST, "role": "adjudicator", "kind": "accept"}, 409,
         "nothing to settle"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_and_not_kept(made, body, status, says):
    folder, client = made
    got, _, text = client.ask("POST", client.at("api/decide"), body)
    assert (got, says in text) == (status, True), text
    assert not [d for d in read_decisions(folder) if d.annotator in ("a", "")]


def test_nothing_says_which_answer_is_the_violator_before_the_choice(fresh):
    folder, client = fresh
    build = read_build(folder)
    for line in build.originals:
        told = client.show("ann", line.dialogue_id)
        sheet = told["sheet"]
        assert {*sheet} == {
            "id", "names", "shown", "seen", "wordings", "answers", "told"
        }  # fmt: skip
        assert {*map(str, sheet["wordings"][0])} == {"wording", "question"}
        assert sorted(sheet["answers"]) == sorted([line.follower, line.violator])
        assert not {"follower", "violator", line.maxim} & {*json.dumps(sheet).split('"')}
    told = client.decide("ann", FIRST, "choose", chosen=0)["sheet"]
    order = answer_order(0, "ann", FIRST)
    assert told["labels"] == list(order)
    assert told["maxim"]["short"] == "Quality"
    [choice] = read_decisions(folder)
    assert (choice.chosen, choice.shown_first) == (order[0], order[0])
    assert client.show("bo", FIRST)["sheet"]["told"] is False


def test_the_order_of_answers_is_by_chance_and_fixed():
    names = [f"annotator {number}" for number in range(400)]
    first = Counter(answer_order(0, name, FIRST)[0] for name in names)
    assert 150 < first["violator"] < 250
    assert first == Counter(answer_order(0, name, FIRST)[0] for name in names)
    assert len({tuple(answer_order(seed, n, FIRST) for n in names[:20]) for seed in range(5)}) == 5


def test_an_annotator_learns_nothing_of_the_others(fresh):
    _, client = fresh
    before = client.show("bo", FIRST)
    client.decide("ann", FIRST, "choose", chosen=1)
    client.decide("ann", FIRST, "reject", reasons=[HARD], comment="odd")
    client.post("write", annotator="ann", dialogue_id="nothing", question="?")
    assert client.show("bo", FIRST) == before


def test_who_wrote_a_dialogue_makes_no_blind_choice(fresh):
    _, client = fresh
    assert client.show("T. Author", FIRST)["sheet"]["told"] is True
    # Who wrote a rewording has not seen which answer is which.
    assert client.show("R. Writer", FIRST)["sheet"]["told"] is False


def test_decisions_of_many_at_once_are_all_kept(fresh):
    folder, client = fresh
    client.decide("ann", FIRST, "choose", chosen=0)
    shown = client.show("ann", FIRST)["sheet"]["shown"]

    def judge(number):
        return client.post("decide", annotator="ann", dialogue=FIRST, kind="accept", shown=shown,
                           seen=1, comment=str(number))  # fmt: skip

    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(judge, range(18)))
    assert {status for status, _ in told} == {200}
    rows = read_decisions(folder)
    assert sorted(int(d.comment) for d in rows if d.kind == "accept") == list(range(18))
    # Each is told of all that came before it and that its page had not seen.
    assert sorted(len(t["between"]) for _, t in told) == list(range(18))


def test_undo_is_of_ones_own_judgement_and_once(fresh):
    folder, client = fresh
    client.decide("ann", FIRST, "choose", chosen=0)
    number = client.decide("ann", FIRST, "accept")["number"]
    assert client.post("undo", annotator="bo", number=number)[0] == 409
    assert client.post("undo", annotator="ann", number=1)[0] == 409  # a choice stays
    status, told = client.post("undo", annotator="ann", number=number)
    assert (status, told["overview"]["last"]) == (200, None)
    assert {e["id"]: e["state"] for e in told["overview"]["dialogues"]}[FIRST] == "chosen"
    assert client.post("undo", annotator="ann", number=number)[0] == 409
    assert [d.kind for d in read_decisions(folder)] == ["choose", "accept", "undo"]


def test_edits_hold_for_what_they_are_about(fresh):
    folder, client = fresh
    client.decide("ann", FIRST, "choose", chosen=0)
    line = read_build(folder).of_dialogue(FIRST)[0]
    known = {"annotator": "ann", "dialogue": FIRST, "kind": "edit",
             "shown": client.show("ann", FIRST)["sheet"]["shown"]}  # fmt: skip
    for texts, says in [
        ({}, "nothing is changed"),
        ({"question": line.question}, "nothing is changed"),
        ({"question": " "}, "expected a text"),
        ({"follower": line.violator}, "both answers are the same"),
        ({"maxim": "x"}, "expected one of question, follower, violator"),
    ]:
        status, told = client.post("decide", **known, texts=texts)
        assert (status, says in told["error"]) == (422, True), told
    told = client.decide("ann", FIRST, "edit", texts={"violator": " A  new\none. "})
    assert [v["texts"]["violator"] for v in told["sheet"]["verdicts"]] == ["A new one."] * 3
    told = client.decide("ann", FIRST, "edit", wording="1", texts={"question": "Well?"})
    assert [v["texts"]["question"] for v in told["sheet"]["verdicts"]][1] == "Well?"
    assert told["sheet"]["verdicts"][0]["before"] == {"violator": line.violator}


def test_a_judgement_of_older_texts_is_kept_and_asked_for_again(fresh):
    folder, client = fresh
    client.decide("ann", FIRST, "choose", chosen=0)
    told = client.decide("ann", FIRST, "accept")
    assert {e["state"] for e in told["overview"]["dialogues"] if e["id"] == FIRST} == {"accepted"}
    status, told = client.post("write", annotator="cy", dialogue_id=FIRST, question="Pray, what?")
    assert (status, told["added"]) == (200, [{"dialogue": FIRST, "wording": "3"}])
    made = read_build(folder).of_dialogue(FIRST)[-1].made
    assert (made.by, made.kind) == ("cy", "person")
    told = client.show("ann", FIRST)
    assert {e["state"] for e in told["overview"]["dialogues"] if e["id"] == FIRST} == {"changed"}
    assert told["sheet"]["judged"][0]["stale"] is True


def test_what_is_written_is_checked_whole(fresh):
    folder, client = fresh
    before = read_build(folder).wordings
    status, told = client.post(
        "write", annotator="cy", maxim="manner", question="Why?", follower=""
    )
    assert status == 422
    assert 'form line 1, maxim: got "manner"; expected one of quantity_1' in told["error"]
    assert "form line 1, follower" in told["error"]
    assert read_build(folder).wordings == before
    status, told = client.post("write", annotator="cy", maxim="quality", question="Who [X] it?",
                               follower="My aunt.", violator="My teapot.")  # fmt: skip
    assert status == 200
    assert "placeholders" in {found["check"] for found in told["checks"]}


def test_disputes_go_to_an_adjudicator(fresh):
    folder, client = fresh
    other = "relation-01-1"
    for dialogue in (FIRST, other):
        for name in ("ann", "bo"):
            client.decide(name, dialogue, "choose", chosen=0)
    client.decide("ann", FIRST, "accept")
    client.decide("bo", FIRST, "reject", reasons=[HARD], comment="hm")
    client.decide("ann", other, "accept")
    assert [e["id"] for e in client.show("cy", role="adjudicator")["overview"]["dialogues"]] == [
        FIRST
    ]
    sheet = client.show("cy", FIRST, "adjudicator")["sheet"]
    assert [one["annotator"] for one in sheet["others"]] == [1, 2]
    assert sheet["others"][1]["judged"][0]["comment"] == "hm"
    assert not {"ann", "bo"} & {*json.dumps(sheet["others"]).split('"')}
    told = client.decide("cy", FIRST, "reject", role="adjudicator", reasons=[HARD])
    assert [e["state"] for e in told["overview"]["dialogues"]] == ["rejected"]
    # Bo has judged it and may look; of what bo has not judged bo sees nothing.
    client.decide("cy", other, "choose", chosen=0)
    client.decide("cy", other, "reject", reasons=[HARD])
    assert [e["id"] for e in client.show("bo", role="adjudicator")["overview"]["dialogues"]] == [
        FIRST
    ]
    assert client.show("dee", FIRST)["sheet"]["told"] is False
    assert client.show("cy", FIRST)["sheet"]["told"] is True
    assert read_decisions(folder)[-1].annotator == "cy"


def test_a_page_for_one_annotator_takes_no_other(tmp_path):
    small_set(tmp_path / "set")
    with serving(tmp_path / "set", annotator=" Ann  Other ") as client:
        status, _, text = client.ask("GET", client.at("api/show"))
        assert json.loads(text)["overview"]["person"]["name"] == "Ann Other"
        status, told = client.post("decide", annotator="bo")
        assert (status, told["error"]) == (422, 'annotator: got "bo"; expected Ann Other')


def test_a_built_in_set_is_not_judged_in_place():
    with pytest.raises(FelicityError, match="a built-in set is not judged in place"):
        Office("gricean-maxims")


def test_a_models_margins_are_told_after_the_choice(tmp_path, tiny_gpt2_folder):
    import polars as pl

    from felicity import open_participant, run
    from felicity.build.export import export_study
    from felicity.study import load_choice_study

    folder = tmp_path / "set"
    small_set(folder)
    export_study(folder, tmp_path / "study")
    study = load_choice_study(str(tmp_path / "study"))
    where = {"questioner": "Joan", "wording": "1"}
    ran = run(study, open_participant(f"hf:{tiny_gpt2_folder}"), tmp_path / "run", where=where)
    of_dialogue = ran.responses.filter(pl.col("dialogue_id") == FIRST)
    by_label = of_dialogue.group_by("answer_label").agg(pl.col("log_prob_mean").mean())
    means = dict(by_label.iter_rows())
    with serving(folder, run=tmp_path / "run") as client:
        assert "model" not in client.show("ann", FIRST)["sheet"]
        model = client.decide("ann", FIRST, "choose", chosen=0)["sheet"]["model"]
    assert model["nats"] == {
        "0": None, "1": pytest.approx(means["follower"] - means["violator"]), "2": None
    }  # fmt: skip
    assert model["name"] == ran.label
    other = tmp_path / "other"
    start_build(other, NewSet(), None, None)
    with pytest.raises(RunError, match="no dialogue of this set was run"):
        Office(other, run=tmp_path / "run")
