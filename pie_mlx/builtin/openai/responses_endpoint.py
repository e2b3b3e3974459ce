"""/v1/responses."""

from bodies import read_body
from refusals import Refusal
from replies import begin_replies
from response_chat import chat_of
from response_fields import LOGPROBS, ResponseRequest
from response_form import ResponseForm
from sending import answer as send


async def answer(body):
    """Answer one request. Raises Refusal, and the engine's errors."""
    request = await read_body(body, ResponseRequest)
    if request.top_logprobs and not request.include:
        raise Refusal(400, f"top_logprobs: put {LOGPROBS} into include as well", param="top_logprobs")
    chat, terms = chat_of(request)
    model, account, pieces = await begin_replies(chat, len(body), terms)
    return await send(account, pieces, ResponseForm(request, model), stream=request.stream)
