"""An HTTP server: chat completions for any OpenAI client, and behind the model name `careful` a strategy of one's own.

Each request runs in a process of its own. The whole interface, with tools, streams and schemas, is the program
pie_mlx/builtin/openai: copy that to change more than a page holds. serve.py puts this one on a port.

    pie serve &
    python examples/openai-server/serve.py 8001
"""

import asyncio
import json
from collections import Counter
from typing import Any

from inferlet import Context, Model, Sampler, errors, runtime


async def handle(request: dict[str, Any], input: dict[str, Any]) -> dict[str, Any]:
    match request["method"], request["path"]:
        case "GET", "/v1/models":
            names = [{"id": name, "object": "model"} for name in STRATEGIES]
            return {"body": {"object": "list", "data": names}}
        case "POST", "/v1/chat/completions":
            return await complete(json.loads(request["body"]), input)
        case _:
            return refusal(404, f"{request['method']} {request['path']}: there is no such thing here")


async def complete(body: dict[str, Any], input: dict[str, Any]) -> dict[str, Any]:
    """Answer a conversation with the strategy the client chose as its model."""
    strategy = STRATEGIES.get(body["model"])
    if strategy is None:
        return refusal(404, f"model {body['model']}: choose {' or '.join(STRATEGIES)}")
    with Context(Model.load(runtime.models()[0])) as context:
        try:
            write(context, body["messages"])
        except errors.PieError as error:
            return refusal(400, str(error))
        text = await strategy(context, body.get("max_tokens", 256), input["n"])
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"body": {"object": "chat.completion", "model": body["model"], "choices": [choice]}}


def write(context: Context, messages: list[dict[str, str]]) -> None:
    turns = {"system": context.system, "user": context.user, "assistant": context.assistant}
    for message in messages:
        turns[message["role"]](message["content"])


async def plain(context: Context, max_tokens: int, n: int) -> str:
    return await context.generate(Sampler.argmax(), max_tokens=max_tokens).collect_text()


async def careful(context: Context, max_tokens: int, n: int) -> str:
    """What most of several answers say, drawn side by side on forks of the conversation."""
    await context.flush()
    answers = await asyncio.gather(*(drawn(context, max_tokens) for _ in range(n)))
    return Counter(answers).most_common(1)[0][0]


async def drawn(context: Context, max_tokens: int) -> str:
    with context.fork() as fork:
        return await fork.generate(Sampler.top_p(0.8), max_tokens=max_tokens).collect_text()


def refusal(status: int, message: str) -> dict[str, Any]:
    return {"status": status, "body": {"error": {"message": message, "type": "invalid_request_error"}}}


STRATEGIES = {"plain": plain, "careful": careful}
