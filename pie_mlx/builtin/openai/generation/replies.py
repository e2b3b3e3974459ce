"""Replies to a chat, begun."""

import asyncio
import json

from inferlet import Context
from wire.bodies import SHORT_BYTES
from wire.fields import PlainText

from generation.accounts import Account
from generation.choices import Choice, drawing_of, merged
from generation.constraints import rules_of
from generation.conversation import write_messages
from generation.prompts import checked_length, copies, load_told
from generation.readings import Vocabulary
from generation.speech import Speech
from generation.stops import StopTexts


async def begin_replies(request, size, terms):
    """The model, the account and the parts of the replies to a ChatRequest of `size` bytes.

    Raises Refusal in the words of `terms`, and the engine's errors.
    """
    if size > SHORT_BYTES or request.tools or request.response_format != PlainText():
        # Grammars take time as well.
        rules, context, account = await asyncio.to_thread(_prepare, request, terms)
    else:
        rules, context, account = _prepare(request, terms)
    contexts = await copies(context, request.n, account)
    account.choices = [_choice(request, rules, copy, index) for index, copy in enumerate(contexts)]
    return context.model, account, merged([choice.pieces() for choice in account.choices])


def _prepare(request, terms):
    model = load_told(request, terms)
    rules = rules_of(request, model, terms)
    context = Context(model)
    write_messages(context, request.messages, rules.schemas, terms)
    return rules, context, Account(checked_length(context, terms.messages))


def _choice(request, rules, context, index):
    limit = request.max_completion_tokens or request.max_tokens
    top = request.top_logprobs if request.logprobs else None
    drawing = drawing_of(request, index, limit, top=top, one_call=not request.parallel_tool_calls)
    speech = Speech(context.model, [json.dumps(schema) for schema in rules.schemas])
    vocabulary = Vocabulary(context.model) if request.logprobs else None
    return Choice(context, drawing, speech, StopTexts(request.stop_texts), rules, vocabulary, index)
