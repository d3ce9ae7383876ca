"""The server of the page: an address with a token on the loopback, a few routes, JSON."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from felicity.build.curation.guard import Guard
from felicity.build.curation.office import ConflictError, Office
from felicity.build.curation.page import page_files
from felicity.errors import FelicityError, OptionError, RunError

if TYPE_CHECKING:
    import uvicorn
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"
TOKEN_BYTES = 24
# What the page shows at each of its addresses is up to its script.
VIEWS = ("/", "/adjudicate", "/write")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that waits: its socket is bound and takes connections, and nothing answers yet."""

    app: Guard
    listener: socket.socket
    address: str

    def server(self) -> uvicorn.Server:
        """Return the server, to be run with this listener."""
        import uvicorn

        config = uvicorn.Config(
            self.app, log_level="warning", access_log=False, lifespan="off", ws="none",
            server_header=False, timeout_graceful_shutdown=2,
        )  # fmt: skip
        return uvicorn.Server(config)

    def run(self) -> None:
        """Answer until interrupted."""
        self.server().run(sockets=[self.listener])


def open_server(office: Office, port: int = 0, token: str | None = None) -> Served:
    """Take a port of the loopback address, any that is free for 0.

    Raises
    ------
    OptionError
        Where the port is taken or not allowed.
    FelicityError
        Where starlette or uvicorn is not installed.
    """
    token = token or secrets.token_urlsafe(TOKEN_BYTES)
    answering = answer_for(office)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        raise OptionError(
            f"got {port}; it cannot be used: {error}", where="--port", hint="0 takes a free one"
        ) from error
    taken = listener.getsockname()[1]
    guard = Guard(answering, token, (f"{HOST}:{taken}", f"localhost:{taken}"))
    return Served(app=guard, listener=listener, address=f"http://{HOST}:{taken}/{token}/")


def answer_for(office: Office) -> Any:
    """Return the application: the page, its files, and what it asks.

    Raises
    ------
    FelicityError
        Where starlette or uvicorn is not installed.
    """
    try:
        import uvicorn  # noqa: F401 - known to be there before a port is taken
        from starlette.applications import Starlette
        from starlette.responses import Response
        from starlette.routing import Route
    except ImportError as error:
        raise FelicityError(
            f"the package {error.name} is not installed",
            where="felicity build curate",
            hint="pip install 'felicity[curate]'",
        ) from error
    files = page_files()

    def file(name: str) -> Callable[[Request], Response]:
        text, kind = files[name]
        return lambda _request: Response(text, media_type=kind)

    async def show(request: Request) -> Response:
        return _answer(office.show, dict(request.query_params))

    def posted(action: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Callable[..., Any]:
        async def answer(request: Request) -> Response:
            return _answer(action, await request.body())

        return answer

    routes = [Route(view, file("page.html")) for view in VIEWS]
    routes += [Route(f"/{name}", file(name)) for name in ("page.js", "page.css")]
    routes += [
        Route("/api/show", show),
        Route("/api/decide", posted(office.decide), methods=["POST"]),
        Route("/api/undo", posted(office.undo), methods=["POST"]),
        Route("/api/write", posted(office.write), methods=["POST"]),
    ]
    return Starlette(routes=routes)


def _answer(
    action: Callable[[Mapping[str, Any]], dict[str, Any]], asked: dict[str, str] | bytes
) -> Response:
    """Do what is asked and answer in JSON; a mistake of the page's is told to it."""
    from starlette.responses import JSONResponse

    try:
        given = json.loads(asked) if isinstance(asked, bytes) else asked
        if not isinstance(given, dict):
            raise OptionError("expected a JSON object", where="request")
        return JSONResponse(action(given))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        return JSONResponse({"error": "request: expected JSON"}, status_code=400)
    except ConflictError as error:
        return JSONResponse({"error": str(error)}, status_code=409)
    except RunError as error:
        return JSONResponse({"error": str(error)}, status_code=500)
    except FelicityError as error:
        return JSONResponse({"error": str(error)}, status_code=422)
