"""Asynchronous work is completed from code that is not asynchronous, and from code that is."""

from __future__ import annotations

import asyncio

import pytest

from felicity.rating.eventloop import complete


async def seven() -> int:
    await asyncio.sleep(0)
    return 7


async def inside(work):
    return complete(work)


@pytest.mark.parametrize("run", [complete, lambda work: asyncio.run(inside(work))])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ValueError])
def test_what_ends_the_work_is_heard_with_and_without_a_running_loop(run, stop):
    async def stopped() -> None:
        raise stop

    assert run(seven) == 7
    with pytest.raises(stop):
        run(stopped)
