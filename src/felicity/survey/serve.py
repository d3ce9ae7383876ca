"""Serve a survey to browsers and collect the answers (Starlette; ``felicity[web]``)."""

from __future__ import annotations

import json
import mimetypes
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from felicity.errors import FelicityError, RunError
from felicity.survey.make import PAGE, PUBLIC, SERVED, read_survey
from felicity.survey.store import ANSWERS, AnswerStore

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LARGEST = 1_000_000
LONGEST_ID = 200
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class BadRequestError(Exception):
    """What a page of ours would never send."""


def survey_app(folder: Path) -> Starlette:
    """Make the application of one survey's folder.

    It gives out the survey's own files and nothing else, opens sessions (``POST /api/session``)
    and takes rows (``POST /api/rows``): a reply of 200 means that they are on the disk.

    Raises
    ------
    FelicityError
        Where the folder holds no survey, or ``felicity[web]`` is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise FelicityError(
            "the server needs starlette and uvicorn, which are not installed",
            where="survey serve",
            hint="pip install 'felicity[web]'",
        ) from None
    content = read_survey(folder)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        with AnswerStore(folder / ANSWERS) as store:
            app.state.store = store
            yield

    app = Starlette(
        routes=[
            Route("/api/session", _open_session, methods=["POST"]),
            Route("/api/rows", _take_rows, methods=["POST"]),
            Route("/{name:path}", _give_file),
        ],
        lifespan=lifespan,
    )
    app.state.folder = folder
    app.state.content = content
    return app


async def _give_file(request: Request) -> Response:
    from starlette.responses import FileResponse, Response

    name = request.path_params["name"] or PAGE
    if name not in PUBLIC:
        return Response("no such page", status_code=404, headers=HEADERS)
    kind = mimetypes.guess_type(name)[0] or "text/plain"
    if name == SERVED:
        return Response("const SERVED = true;\n", media_type=kind, headers=HEADERS)
    return FileResponse(request.app.state.folder / name, media_type=kind, headers=HEADERS)


async def _open_session(request: Request) -> Response:
    try:
        body = await _body(request)
        participant = body.get("participant", "")
        if not isinstance(participant, str) or len(participant) > LONGEST_ID:
            raise BadRequestError("participant: expected a short text")
        content = request.app.state.content
        if body.get("survey") != content["survey"]:
            raise BadRequestError("survey: the page is of another survey; load it again")
    except BadRequestError as error:
        return _json({"error": str(error)}, 400)
    store: AnswerStore = request.app.state.store
    session, number = store.open_session(content["survey"], participant, len(content["lists"]))
    return _json({"session": session, "list": number})


async def _take_rows(request: Request) -> Response:
    try:
        body = await _body(request)
        session, rows = body.get("session"), body.get("rows")
        if not isinstance(session, str) or not isinstance(rows, list):
            raise BadRequestError("expected session and rows")
        for row in rows:
            if not _is_row(row):
                raise BadRequestError("expected rows with trial_index and part")
    except BadRequestError as error:
        return _json({"error": str(error)}, 400)
    store: AnswerStore = request.app.state.store
    try:
        store.add(session, rows)
    except RunError as error:
        # A page keeps what it could not hand over and tries again.
        return _json({"error": error.message}, 404 if "no such session" in error.message else 503)
    return _json({"kept": len(rows)})


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("part"), str):
        return False
    index = row.get("trial_index")
    return isinstance(index, int) and not isinstance(index, bool) and 0 <= index < 100_000


async def _body(request: Request) -> dict[str, Any]:
    """Read a JSON object, from a page of this server only."""
    origin, host = request.headers.get("origin"), request.headers.get("host", "")
    if origin is not None and origin.partition("://")[2] != host:
        raise BadRequestError("origin: another site")
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        # Forms of other sites cannot send this type.
        raise BadRequestError("content type: expected application/json")
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > LARGEST:
            raise BadRequestError("too large")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequestError("expected JSON") from None
    if not isinstance(body, dict):
        raise BadRequestError("expected a JSON object")
    return body


def _json(value: dict[str, Any], status: int = 200) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse(value, status_code=status, headers=HEADERS)


def listen(host: str, port: int) -> socket.socket:
    """Take a port.

    Raises
    ------
    FelicityError
        Where it is taken, or the address is none of this machine's.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise FelicityError(
            f"cannot listen: {error.strerror or error}",
            where=f"{host}:{port}",
            hint="choose another with --port, or an address of this machine with --host",
        ) from None


def serve_survey(folder: Path, taken: socket.socket) -> None:
    """Serve until interrupted."""
    app = survey_app(folder)
    import uvicorn

    config = uvicorn.Config(app, log_level="warning", lifespan="on", server_header=False)
    uvicorn.Server(config).run(sockets=[taken])
