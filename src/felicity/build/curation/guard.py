"""Who may ask: the page that was opened with the token, on this machine, and nobody else.

The server listens on the loopback address, which any program of this machine and any page in its
browser can reach. So a request is refused unless its address holds the token (others cannot guess
it), its Host is the server's own (a name of somebody else's that was pointed at the loopback
address is not), and its Origin, which browsers send with what other pages ask, is the server's.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 65_536
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """Refuse what does not come from the page; pass on the rest, with the token taken off.

    Parameters
    ----------
    app
        What answers.
    token
        The first part of every address.
    hosts
        What Host may be: names and port.
    """

    def __init__(self, app: App, token: str, hosts: tuple[str, ...]) -> None:
        self.app, self.token, self.hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            # There is no other way to speak with this server; a WebSocket is closed unaccepted.
            await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        inner = dict(scope)
        inner["path"] = scope["path"][len(self.token) + 1 :] or "/"
        inner["raw_path"] = inner["path"].encode()
        await self.app(inner, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = [(name.decode("latin-1"), text.decode("latin-1")) for name, text in
                   scope["headers"]]  # fmt: skip
        given: dict[str, list[str]] = {}
        for name, text in headers:
            given.setdefault(name.lower(), []).append(text)
        host, origin = given.get("host", []), given.get("origin", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return 403, "this server answers under its own address only"
        if len(origin) > 1 or (origin and origin[0].lower() != f"http://{host[0].lower()}"):
            return 403, "another page asks"
        if given.get("sec-fetch-site", ["none"]) not in (["none"], ["same-origin"]):
            return 403, "another page asks"
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        if not secrets.compare_digest(first.encode(), self.token.encode()):
            return 403, "the token in the address is not the server's: open the address it printed"
        if scope["method"] == "POST":
            return _refused_post(given, origin)
        return None


def _refused_post(given: dict[str, list[str]], origin: list[str]) -> tuple[int, str] | None:
    if not origin:
        return 403, "no origin is named"
    if given.get("content-type", [""])[0].split(";")[0].strip().lower() != "application/json":
        return 415, "expected application/json"
    length = given.get("content-length", [""])[0]
    if not length.isdecimal():
        return 411, "expected a length"
    if int(length) > LARGEST_BODY:
        return 413, f"expected at most {LARGEST_BODY} bytes"
    return None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.encode(), text.encode()) for name, text in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await send(message)

    return sending


async def _refuse(send: Send, status: int, why: str) -> None:
    body = f"{why}\n".encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"),
               (b"content-length", str(len(body)).encode())]  # fmt: skip
    guarded = _with_headers(send)
    await guarded({"type": "http.response.start", "status": status, "headers": headers})
    await guarded({"type": "http.response.body", "body": body})
