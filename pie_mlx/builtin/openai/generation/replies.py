"""Begin the replies to a chat."""

import asyncio
import json

from inferlet import Context
from wire.bodies import SHORT_BYTES
from wire.fields import PlainText

from generation.choices import Choice, merged, sampling_of
from generation.constraints import rules_of
from generation.conversation import write_messages
from generation.costs import Costs
from generation.logprobs import Vocabulary
from generation.prompts import checked_length, copies, load_with_variables
from generation.reply_decoder import ReplyDecoder
from generation.stops import StopTexts


async def begin_replies(request, size, terms):
    """The model, the costs and the parts of the replies to a ChatRequest of `size` bytes.

    Raises Refusal with the field names of `terms`, and the engine's errors.
    """
    if size > SHORT_BYTES or request.tools or request.response_format != PlainText():
        # Grammars take time as well.
        rules, context, costs = await asyncio.to_thread(_prepare, request, terms)
    else:
        rules, context, costs = _prepare(request, terms)
    contexts = await copies(context, request.n, costs)
    costs.choices = [_choice(request, rules, copy, index) for index, copy in enumerate(contexts)]
    return context.model, costs, merged([choice.pieces() for choice in costs.choices])


def _prepare(request, terms):
    model = load_with_variables(request, terms)
    rules = rules_of(request, model, terms)
    context = Context(model)
    write_messages(context, request.messages, rules.schemas, terms)
    return rules, context, Costs(checked_length(context, terms.messages))


def _choice(request, rules, context, index):
    limit = request.max_completion_tokens or request.max_tokens
    top = request.top_logprobs if request.logprobs else None
    sampling = sampling_of(request, index, limit, top=top, one_call=not request.parallel_tool_calls)
    decoder = ReplyDecoder(context.model, [json.dumps(schema) for schema in rules.schemas])
    vocabulary = Vocabulary(context.model) if request.logprobs else None
    return Choice(context, sampling, decoder, StopTexts(request.stop_texts), rules, vocabulary, index)
