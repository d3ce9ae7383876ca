"""A small set to judge, and its server, in this process or in one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from felicity.build.adding import add_rows
from felicity.build.curation.office import Office
from felicity.build.curation.server import open_server
from felicity.build.folder import BuildFolder, read_build

from building import start

FORM = "application/json"


def small_set(folder: Path) -> BuildFolder:
    """Five dialogues, one a maxim, each in three wordings."""
    build = start(folder, dialogues=1, rewordings=2)
    rows = [
        {"dialogue_id": line.dialogue_id, "question": f"{words} {line.question}"}
        for line in build.originals
        for words in ("Tell me:", "So,")
    ]
    add_rows(folder, list(enumerate(rows, start=1)), "rows", "R. Writer")
    return read_build(folder)


@dataclass
class Client:
    """What speaks HTTP with a server, with any header."""

    address: str

    def ask(
        self, method: str, path: str, body: object = None, **headers: str | None
    ) -> tuple[int, dict[str, str], str]:
        parts = urlsplit(self.address)
        sent = {"Host": parts.netloc}
        if method == "POST":
            sent |= {"Origin": f"http://{parts.netloc}", "Content-Type": FORM}
        sent |= {name.replace("_", "-"): text for name, text in headers.items()}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection = HTTPConnection(parts.hostname, parts.port, timeout=20)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        if data is not None:
            sent.setdefault("Content-Length", str(len(data)))
        for name, text in sent.items():
            if text is not None:
                connection.putheader(name, text)
        connection.endheaders(data)
        reply = connection.getresponse()
        told = reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read().decode()
        connection.close()
        return told

    def at(self, path: str) -> str:
        return urlsplit(self.address).path + path

    def show(self, annotator: str, dialogue: str = "", role: str = "annotator") -> dict[str, Any]:
        asked = urlencode({"annotator": annotator, "dialogue": dialogue, "role": role})
        status, _, text = self.ask("GET", self.at(f"api/show?{asked}"))
        assert status == 200, text
        return json.loads(text)

    def post(self, what: str, **body: object) -> tuple[int, dict[str, Any]]:
        status, _, text = self.ask("POST", self.at(f"api/{what}"), body)
        return status, json.loads(text)

    def decide(self, annotator: str, dialogue: str, kind: str, **more: object) -> dict[str, Any]:
        sheet = self.show(annotator, dialogue, str(more.get("role", "annotator")))["sheet"]
        known = {"shown": sheet["shown"], "seen": sheet["seen"]}
        status, told = self.post(
            "decide",
            **{"annotator": annotator, "dialogue": dialogue, "kind": kind, **known, **more},
        )
        assert status == 200, told
        return told


@contextmanager
def serving(
    folder: Path, *, port: int = 0, token: str | None = None, **options: Any
) -> Iterator[Client]:
    served = open_server(Office(folder, **options), port, token)
    server = served.server()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [served.listener]})
    thread.start()
    try:
        yield Client(served.address)
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def command(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run `felicity build curate`; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "felicity", "build", "curate", str(folder), "--no-open", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
