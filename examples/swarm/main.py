"""A swarm: workers on one wallet take questions from a queue, whoever is free the next one."""

import asyncio
import json

from inferlet import messaging, runtime, session


async def main(input):
    questions = input["questions"]
    with messaging.subscribe("swarm/progress") as progress:
        workers = [runtime.launch("worker.py", {"max_tokens": input["max_tokens"]}) for _ in range(input["workers"])]
        for question in questions:
            messaging.push("swarm/questions", question)
        answered = [json.loads(await progress.next()) for _ in questions]
    for answer in answered:
        session.send(f"{answer['question']}  {answer['text'].strip()}\n")
    for _ in workers:
        messaging.push("swarm/questions", "")
    counts = await asyncio.gather(*(worker.result() for worker in workers))
    return f"{sum(counts)} answers by {len(workers)} workers"
