"""CPU that our runner and journal add to each reply, beyond inspect_ai's own call.

A server in another process answers at once. The same questions are put in two ways, in turns so
that drift of the machine falls on both: ``bare`` calls inspect_ai's generate with as many requests
open; ``felicity`` is `run_ratings`, from an empty folder to the tables on disk. CPU is this
process's own (user + system), so that the server's does not count.

    python benchmarks/rating_overhead.py [--replies 1000] [--rounds 5]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from felicity.participants.api import open_api
from felicity.participants.api_reply import LastEvent
from felicity.rating.parsing import Parser
from felicity.rating.run import run_ratings
from felicity.types import Conversation, Sampling, Scale, Turn

# What a rating prompt with a worked example is like: 1,600 characters.
TEXT = "Two colleagues speak about the length of a talk and one of them is asked for it. " * 20
WIDTH = 10
SAMPLING = Sampling(temperature=1.0, max_tokens=200)
LIMIT_MS = 1.0

SERVER = """
import asyncio, json, sys
body = json.dumps({
    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": "I would rate this a 5."}}],
    "usage": {"prompt_tokens": 400, "completion_tokens": 8, "total_tokens": 408},
}).encode()
answer = (b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: "
          + str(len(body)).encode() + b"\\r\\n\\r\\n" + body)

async def talk(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\\r\\n\\r\\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\\r\\n")[0])
            await reader.readexactly(length)
            writer.write(answer)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()

async def main():
    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


@dataclass(frozen=True)
class Rating:
    """What a parser must return."""

    value: int | None
    status: str
    span: tuple[int, int] | None


def parse(text: str, finish: str, scale: Scale, *, reasoning: str | None = None) -> Rating:
    """Find a digit; the parser proper has a benchmark of its own."""
    place = next(i for i, character in enumerate(text) if character.isdigit())
    return Rating(int(text[place]), "ok", (place, place + 1))


def questions(count: int) -> list[Conversation]:
    return [
        Conversation(
            conversation_id=f"i{number // 10}|{number % 10}",
            prompting="ALT",
            repeat=number % 10,
            system="You judge how people speak.",
            turns=(
                Turn(
                    trial_id=f"i{number // 10}|{number % 10}",
                    item_id=f"i{number // 10}",
                    text=f"{TEXT}\nQuestion {number // 10}",
                ),
            ),
            scale=Scale(low=1, high=7),
        )
        for number in range(count)
    ]


def bare(url: str, count: int) -> None:
    """Put the questions through inspect_ai alone."""
    from inspect_ai.model import (
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        get_model,
    )
    from inspect_ai.model._model import use_model_event_sink

    config = GenerateConfig(
        temperature=SAMPLING.temperature,
        max_tokens=SAMPLING.max_tokens,
        max_connections=WIDTH,
        max_retries=6,
        attempt_timeout=600,
    )
    model = get_model("openai-api/desk/m", base_url=url, api_key="k", memoize=False)
    waiting = iter(questions(count))

    async def work() -> None:
        for conversation in waiting:
            messages = [
                ChatMessageSystem(content=conversation.system or ""),
                ChatMessageUser(content=conversation.turns[0].text),
            ]
            # As in our participant, so that what is compared is the same call.
            with use_model_event_sink(LastEvent()):
                output = await model.generate(messages, config=config)
            assert output.completion

    async def main() -> None:
        await asyncio.gather(*(work() for _ in range(WIDTH)))
        await model.api.aclose()

    asyncio.run(main())


def felicity(url: str, count: int) -> None:
    """Put the questions through our runner into a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        done = run_ratings(
            questions(count),
            open_api("openai-api/desk/m", base_url=url, api_key="k", max_connections=WIDTH),
            Path(folder) / "run",
            sampling=SAMPLING,
            manifest={"study": "overhead", "data_hash": "0"},
            parser=Parser(parse=parse, version="overhead"),
        )
        assert done.complete


def cpu_ms(way: Callable[[str, int], None], url: str, count: int) -> tuple[float, float]:
    """Return CPU and wall milliseconds for each reply."""
    wall, cpu = time.perf_counter(), time.process_time()
    way(url, count)
    return (
        (time.process_time() - cpu) * 1e3 / count,
        (time.perf_counter() - wall) * 1e3 / count,
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--replies", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    server = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        for way in (bare, felicity):
            way(url, 50)  # imports and first connections are not per reply
        rounds = [
            {way.__name__: cpu_ms(way, url, given.replies) for way in order}
            for order in ([bare, felicity], [felicity, bare]) * given.rounds
        ][: given.rounds]
    finally:
        server.kill()
        server.communicate()
    cpu = {
        name: statistics.median(result[name][0] for result in rounds)
        for name in ("bare", "felicity")
    }
    added = statistics.median(result["felicity"][0] - result["bare"][0] for result in rounds)
    print(json.dumps({"cpu_ms_per_reply": cpu, "added_ms_per_reply": added, "rounds": rounds}))
    print(
        f"inspect_ai alone {cpu['bare']:.3f} ms, with Felicity {cpu['felicity']:.3f} ms, "
        f"added {added:.3f} ms of CPU for each reply (limit {LIMIT_MS} ms)"
    )
    return 0 if added <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
