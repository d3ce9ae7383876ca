"""Running asynchronous work from code that is not, in scripts and in notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def complete(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine to its end and return what it returns.

    An interrupt cancels it once and waits for it to end in its own way. In a notebook, whose loop
    runs already, it gets a loop of its own in a thread.

    Examples
    --------
    >>> async def three() -> int:
    ...     return 3
    >>> complete(three)
    3
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    return _complete_in_thread(work)


def _complete_in_thread(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    ended = threading.Event()
    loop = asyncio.new_event_loop()

    async def marked() -> Result:
        try:
            return await work()
        finally:
            ended.set()

    thread = threading.Thread(target=loop.run_forever, name="felicity", daemon=True)
    thread.start()
    future = asyncio.run_coroutine_threadsafe(marked(), loop)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        ended.wait()
        raise
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
