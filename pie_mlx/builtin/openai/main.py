"""The HTTP interfaces of OpenAI, Anthropic and Ollama, as a program: a process of its own answers each request.

Copy this directory, change it, and serve it on a port with launch_daemon.
"""

import time
from datetime import UTC, datetime
from functools import partial

import completions
import embeddings
import messages
import ollama
import reranking
import responses
from wire import EventForm, Refusal, refusal_of

from inferlet import runtime


async def _refuse(text, body):
    raise Refusal(501, f"models are not {text}")


ROUTES = {
    "/api/chat": ("POST", ollama.chat),
    "/api/generate": ("POST", ollama.generate),
    "/api/embed": ("POST", embeddings.embed),
    "/api/embeddings": ("POST", embeddings.embed_one),
    "/api/tags": ("GET", ollama.tags),
    "/api/ps": ("GET", ollama.ps),
    "/api/show": ("POST", ollama.show),
    "/api/version": ("GET", ollama.version),
    "/api/pull": (
        "POST",
        partial(_refuse, "pulled here: run 'pie model download REPO', then 'pie serve --model REPO'"),
    ),
    "/api/push": ("POST", partial(_refuse, "pushed from here: use 'hf upload'")),
    "/api/create": ("POST", partial(_refuse, "made here: run 'pie serve --model DIR'")),
    "/api/copy": ("POST", partial(_refuse, "copied here: run 'pie model list' for those on this machine")),
    "/api/delete": ("DELETE", partial(_refuse, "deleted here: run 'pie model remove REPO'")),
    "/v1/chat/completions": ("POST", completions.answer_chat),
    "/v1/completions": ("POST", completions.answer_text),
    "/v1/embeddings": ("POST", embeddings.answer),
    "/v1/messages": ("POST", messages.answer),
    "/v1/messages/count_tokens": ("POST", messages.count),
    "/v1/rerank": ("POST", reranking.answer),
    "/v1/responses": ("POST", responses.answer),
    "/v1/responses/compact": ("POST", responses.compact),
    "/v1/responses/input_tokens": ("POST", responses.count),
}
STARTED = int(time.time())


async def handle(request):
    """Answer one request; an error becomes an answer too."""
    try:
        return await _answer(request)
    except Exception as error:
        refusal = refusal_of(error)
        return {"status": refusal.status, "body": _form(request).error_body(refusal)}


def _form(request):
    """The form that writes errors as this client reads them."""
    if request["path"].startswith("/api/"):
        return ollama.Form
    is_anthropic = request["path"].startswith("/v1/messages") or "anthropic-version" in request["headers"]
    return messages.MessageForm if is_anthropic else EventForm


async def _answer(request):
    method, path = request["method"], request["path"].rstrip("/")
    if path == "/v1/models" or path.startswith("/v1/models/"):
        _expect(method, "GET", path)
        return {"body": _models(path.removeprefix("/v1/models").lstrip("/"))}
    if path in ROUTES:
        wanted, answer = ROUTES[path]
        _expect(method, wanted, path)
        return await answer(request["body"])
    if path.startswith("/v1/responses/"):
        return responses.answer_stored(method, path.removeprefix("/v1/responses/"), request["query"])
    raise Refusal(404, f"unknown path {path}: there are /v1/models, {', '.join(ROUTES)}")


def _expect(method, wanted, path):
    if method != wanted:
        raise Refusal(405, f"{method} {path}: send a {wanted}")


def _models(name):
    states = runtime.model_states()
    if name:
        found = [state for state in states if name == state.name or name in state.aliases]
        if not found:
            raise Refusal.unknown_model(name, runtime.models())
        return _model(name, found[0])
    page = (
        {"has_more": False, "first_id": states[0].name, "last_id": states[-1].name} if states else {"has_more": False}
    )
    return {"object": "list", "data": [_model(state.name, state) for state in states], **page}


def _model(name, state):
    """One object for the clients of all interfaces. A model that is not in memory is not loaded for it."""
    limit = state.maximum_positions
    limits = {"context_length": limit, "max_input_tokens": limit, "max_tokens": limit} if limit else {}
    use = {"programs": state.programs, "stays": state.stays, "expires_in_seconds": state.expires_in_seconds}
    pie = {"state": state.state, "draft_model": state.draft_model, **use}
    openai = {"id": name, "object": "model", "created": STARTED, "owned_by": "pie"}
    begun = datetime.fromtimestamp(STARTED, UTC).isoformat()
    anthropic = {"type": "model", "display_name": name, "created_at": begun, "lifecycle": "active"}
    return {**openai, **anthropic, **limits, **pie}
