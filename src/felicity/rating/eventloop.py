"""Running asynchronous work from code that is not, in scripts and in notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

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
    stopped: list[BaseException] = []
    loop = asyncio.new_event_loop()

    async def marked() -> Result | None:
        try:
            return await work()
        except (KeyboardInterrupt, SystemExit) as stop:
            # These would end the loop's thread, and nobody would ever hear of it.
            stopped.append(stop)
            return None
        finally:
            ended.set()

    thread = threading.Thread(target=loop.run_forever, name="felicity", daemon=True)
    thread.start()
    future = asyncio.run_coroutine_threadsafe(marked(), loop)
    try:
        result = future.result()
    except KeyboardInterrupt:
        future.cancel()
        ended.wait()
        raise
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    if stopped:
        raise stopped[0]
    return cast("Result", result)
