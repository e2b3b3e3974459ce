"""/v1/responses."""

from generation.replies import begin_replies
from wire.bodies import read_body
from wire.refusals import Refusal
from wire.sending import answer as send

from responses.chat import chat_of
from responses.fields import LOGPROBS, ResponseRequest
from responses.form import ResponseForm


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, ResponseRequest)
    if request.top_logprobs and not request.include:
        raise Refusal(400, f"top_logprobs: put {LOGPROBS} into include as well", param="top_logprobs")
    chat, terms = chat_of(request)
    model, costs, pieces = await begin_replies(chat, len(body), terms)
    return await send(costs, pieces, ResponseForm(request, model), stream=request.stream)
