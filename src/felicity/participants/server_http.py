"""Requests to a server of one's own: what is sent again, what is final, and how it is said."""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from felicity.errors import ModelError

if TYPE_CHECKING:
    import httpx

KEY = "FELICITY_SERVER_KEY"
MAX_RETRIES = 6
ATTEMPT_SECONDS = 600.0
FIRST_WAIT = 1.0
LONGEST_WAIT = 120.0
# A busy or failing server; whatever else it refuses it will refuse again.
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


class RefusedError(Exception):
    """A request that the server will not take, now or later."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class ServerConnection:
    """A server's address, with its key and its limits.

    Parameters
    ----------
    address
        Up to and with ``/v1``, if the server has that.
    max_connections
        Requests open at once.
    max_retries
        How often a request is sent again after a rate limit, a server's fault, a lost connection
        or an answer that cannot be read, with growing waits or as long as the server asks.
    attempt_seconds
        When one attempt is given up.
    first_wait
        Seconds before the second attempt.
    """

    def __init__(
        self,
        address: str,
        *,
        max_connections: int,
        max_retries: int = MAX_RETRIES,
        attempt_seconds: float = ATTEMPT_SECONDS,
        first_wait: float = FIRST_WAIT,
    ) -> None:
        self.address = check_address(address)
        self.root = self.address.removesuffix("/v1")
        self._max_retries = max_retries
        self._first_wait = first_wait
        self._over = threading.Event()
        self._client = _client(max_connections, attempt_seconds)
        # Nobody need remember to close it.
        weakref.finalize(self, self._client.close)

    def stop(self) -> None:
        """Wait for nothing any more: the user has interrupted the run."""
        self._over.set()

    def get(self, path: str) -> dict[str, Any]:
        """Ask for a path under the address; same errors as `post`."""
        return self._ask("GET", f"{self.address}{path}", None)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request to a path under the address.

        Raises
        ------
        RefusedError
            Where the server will not take it.
        ModelError
            Where no attempt has brought an answer.
        """
        return self._ask("POST", f"{self.address}{path}", body)

    def post_root(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request to a path beside ``/v1``, where servers keep what is their own."""
        return self._ask("POST", f"{self.root}{path}", body)

    def get_root(self, path: str) -> dict[str, Any]:
        """Ask for a path beside ``/v1``."""
        return self._ask("GET", f"{self.root}{path}", None)

    def _ask(self, verb: str, url: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        said = ""
        for attempt in range(self._max_retries + 1):
            answer, said, asked_wait = self._attempt(verb, url, body)
            if answer is not None:
                return answer
            if attempt < self._max_retries:
                grown = self._first_wait * 2.0**attempt
                if self._over.wait(min(grown if asked_wait is None else asked_wait, LONGEST_WAIT)):
                    break
        raise ModelError(
            f"no answer after {self._max_retries + 1} attempts; the last said: {said}",
            where=url,
            hint="what was scored is kept; the same command goes on from there",
        )

    def _attempt(
        self, verb: str, url: str, body: Mapping[str, Any] | None
    ) -> tuple[dict[str, Any] | None, str, float | None]:
        """Return the answer, or what went wrong and how long the server asks to be left alone."""
        import httpx

        try:
            response = self._client.request(verb, url, json=body)
        except httpx.TransportError as error:
            return None, f"{type(error).__name__}: {error}", None
        try:
            answer = response.json()
        except (json.JSONDecodeError, UnicodeDecodeError):
            answer = None
        message = error_message(answer) or f"HTTP {response.status_code}"
        if response.status_code in PASSING:
            return None, message, _asked_wait(response)
        if response.status_code >= 300:
            raise RefusedError(response.status_code, message)
        if not isinstance(answer, dict):
            return None, "an answer that is no JSON object", None
        if answer.get("error"):
            return None, message, None
        return answer, "", None


def check_address(address: str) -> str:
    """Return an address without a slash at its end.

    Raises
    ------
    ModelError
        Where it is no http address, or holds what may be secret.

    Examples
    --------
    >>> check_address("http://127.0.0.1:8000/v1/")
    'http://127.0.0.1:8000/v1'
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelError(
            f'got "{address}"; expected server:http://HOST:PORT/v1#MODEL', where="model"
        )
    if parts.username is not None or parts.password is not None or parts.query:
        raise ModelError(
            "the address holds a user, a password or a query, which would be written to the run",
            where="model",
            hint=f"put the server's key in the environment, as {KEY}",
        )
    return address.rstrip("/")


def error_message(answer: Any) -> str:
    """Return what a body says of an error, in any of the shapes that servers give it."""
    if not isinstance(answer, Mapping):
        return ""
    error = answer.get("error") or answer.get("message") or answer.get("detail")
    if isinstance(error, Mapping):
        error = error.get("message") or dict(error)
    return " ".join(str(error).split())[:400] if error else ""


def _client(max_connections: int, attempt_seconds: float) -> httpx.Client:
    try:
        import httpx
    except ImportError as error:
        raise ModelError(
            f"models behind a server need httpx, which is not there: {error}",
            where="model",
            hint='pip install "felicity[server]"',
        ) from error
    key = os.environ.get(KEY)
    return httpx.Client(
        headers={"Authorization": f"Bearer {key}"} if key else {},
        timeout=httpx.Timeout(attempt_seconds, connect=min(10.0, attempt_seconds)),
        limits=httpx.Limits(max_connections=max_connections),
    )


def _asked_wait(response: httpx.Response) -> float | None:
    """Read the header that says after how many seconds to come again; a date is not heeded."""
    asked = response.headers.get("Retry-After", "")
    return float(asked) if asked.replace(".", "", 1).isdecimal() else None
