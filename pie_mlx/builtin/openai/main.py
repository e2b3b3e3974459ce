"""The HTTP interface of OpenAI, as a program: a process of its own answers each request.

Copy this directory, change it, and serve it on a port with launch_daemon.
"""

import time

import completions
import responses
from inferlet import runtime
from prompts import load_model
from wire import Refusal, answered

POSTS = {
    "/v1/chat/completions": completions.answer_chat,
    "/v1/completions": completions.answer_text,
    "/v1/responses": responses.answer,
}
STARTED = int(time.time())


async def handle(request):
    """Answer one request; an error becomes an answer too."""
    try:
        return await _answer(request)
    except Exception as error:
        return answered(error)


async def _answer(request):
    method, path = request["method"], request["path"].rstrip("/")
    if path == "/v1/models" or path.startswith("/v1/models/"):
        _expect(method, "GET", path)
        return {"body": _models(path.removeprefix("/v1/models").lstrip("/"))}
    if path.startswith("/v1/responses/"):
        raise Refusal(404, f"{path}: nothing is kept: use the answer of POST /v1/responses")
    if path not in POSTS:
        raise Refusal(404, f"unknown path {path}: there are /v1/models, {', '.join(POSTS)}")
    _expect(method, "POST", path)
    return await POSTS[path](request["body"])


def _expect(method, wanted, path):
    if method != wanted:
        raise Refusal(405, f"{method} {path}: send a {wanted}")


def _models(name):
    if not name:
        return {"object": "list", "data": [_model(name) for name in runtime.models()]}
    return _model(name)


def _model(name):
    limit = load_model(name).info.maximum_positions
    return {"id": name, "object": "model", "created": STARTED, "owned_by": "pie", "context_length": limit}
