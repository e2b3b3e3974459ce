"""A swarm: workers on one wallet take questions from a queue, whoever is free the next one.

They and their launcher know only topics: a queue, of which each message goes to one, and a broadcast that all hear.

    pie run examples/swarm -- --workers 3
"""

import asyncio
import json
from typing import Any

from inferlet import messaging, runtime, session


async def main(input: dict[str, Any]) -> str:
    questions, topic = input["questions"], f"swarm-{runtime.process_id()}"
    with messaging.subscribe(f"{topic}/progress") as progress:
        numbers = range(1, input["workers"] + 1)
        task = {"topic": topic, "max_tokens": input["max_tokens"]}
        workers = [runtime.launch("worker.py", {"number": n, **task}) for n in numbers]
        for question in questions:
            messaging.push(f"{topic}/questions", question)
        for _ in questions:
            answer = json.loads(await progress.next() or "{}")
            session.send(f"worker {answer['worker']}: {answer['question']} {answer['text'].strip()}\n")
    for _ in workers:
        messaging.push(f"{topic}/questions", "")
    counts = await asyncio.gather(*(worker.result() for worker in workers))
    return f"{sum(counts)} answers by {len(workers)} workers"
