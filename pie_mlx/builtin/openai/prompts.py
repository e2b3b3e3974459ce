"""From a request to contexts that hold its prompt, and the replies that begin on them."""

import asyncio
import json
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

import msgspec
from choices import Choice, Costs, replies, sampling_of
from decoding import Alternatives, ReplyDecoder
from fields import AnyObject, Assistant, Developer, NamedChoice, SchemaFormat, System, Tool, User
from wire import SHORT_BYTES, Refusal, aside

from inferlet import Context, GrammarConstraint, JsonSchema, Model, runtime, tools


@dataclass(frozen=True)
class Conversation:
    """What the model reads up to its turn, and what its turn has `begun` with. Each message has the name of the tool
    whose result it is, "" for others."""

    turns: list[tuple[object, str]]
    begun: str = ""


def conversation_of(model, messages, terms):
    """Successive results are in the order of their calls, because many templates show the model no ids. Raises Refusal
    for a result of no call, and for the beginning of a reply that cannot be continued."""
    messages, begun = _begun_reply(model, messages, terms) if terms.continues else (messages, "")
    turns, names = [], {}
    for are_results, run in groupby(enumerate(messages), lambda placed: isinstance(placed[1], Tool)):
        if not are_results:
            for _, message in run:
                turns.append((message, ""))
                _add_calls(names, message)
            continue
        results = list(run)
        for place, result in results:
            _check(result, names, terms.message(place), terms)
        order = {call: place for place, call in enumerate(names)}
        results.sort(key=lambda placed: order[placed[1].tool_call_id])
        turns += [(result, names[result.tool_call_id]) for _, result in results]
    return Conversation(turns, begun)


def write(context, conversation, schemas, terms):
    """Write a conversation up to the model's turn. Raises Refusal, and the engine's TemplateError."""
    try:
        _write_all(context, conversation, schemas, terms)
    except Exception as error:
        if getattr(error, "code", "") != "context_length":
            raise
        raise Refusal(400, str(error), param=terms.messages, code="context_length_exceeded") from None


def _write_all(context, conversation, schemas, terms):
    if schemas:
        context.equip_tools(map(_as_offered, schemas))
    for message, tool in conversation.turns:
        _write_turn(context, message, tool)
        check_fits(context.model, len(context.buffer()), terms.messages, "at least ")
    context.cue()
    if conversation.begun:
        context.append(context.model.tokenizer().encode(conversation.begun))


def _as_offered(schema):
    """A tool without the name of its schema's dialect, which tells a model nothing and which some clients put first."""
    function = schema["function"]
    parameters = {name: value for name, value in function.get("parameters", {}).items() if name != "$schema"}
    return {**schema, "function": {**function, "parameters": parameters} if "parameters" in function else function}


def _begun_reply(model, messages, terms):
    """The messages, and the text of the reply that the last one of them begins."""
    last = messages[-1]
    if not isinstance(last, Assistant) or last.tool_calls:
        return messages, ""
    if model.info.formats.channels or (model.info.formats.reasoning and model.info.formats.reasoning.opened_by_cue):
        path = terms.message(len(messages) - 1)
        raise Refusal(400, f"{path}: this model thinks before it answers: end with a message of the user", param=path)
    return messages[:-1], plain_text(last.content or "")


def _write_turn(context, message, tool):
    match message:
        case Tool(content=content):
            context.answer_tool(tool, plain_text(content))
        case System(content=content) | Developer(content=content):
            _write_system(context, plain_text(content))
        case User(content=content):
            context.user(plain_text(content))
        case Assistant():
            text = plain_text(message.content or message.refusal or "")
            made = [call.function for call in message.tool_calls or []]
            calls = [(call.name, _arguments(call.arguments)) for call in made]
            context.assistant(text, calls)


def _arguments(text):
    """Arguments as an object, which templates write: those that were cut short become a text in one."""
    try:
        found = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError):
        found = None
    return text if isinstance(found, dict) else json.dumps({"arguments": text})


def _write_system(context, text):
    """Where the template has no place for it, the user says it: agents put reminders between turns."""
    try:
        context.system(text)
    except Exception as error:
        if getattr(error, "code", "") != "template":
            raise
        context.user(text)


def _add_calls(names, message):
    """Record the tool of each call, in order. A call with the id of an earlier one replaces it."""
    for call in getattr(message, "tool_calls", None) or []:
        names.pop(call.id, None)
        names[call.id] = call.function.name


def _check(result, names, path, terms):
    call = result.tool_call_id
    if call not in names:
        text = f"no message before this one makes the tool call '{call}': give the id of the call it answers"
        raise Refusal(400, text, param=f"{path}.{terms.call}")
    if result.name not in (None, names[call]):
        text = f"the tool call '{call}' is one of '{names[call]}', not of '{result.name}': leave the name out"
        raise Refusal(400, text, param=f"{path}.name")


def plain_text(content):
    """The text of a message; its parts can only be text."""
    return content if isinstance(content, str) else "".join(part.text for part in content)


UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
ROOMY_TOKEN = 16
"""Characters of a token: far more than most tokens have."""


def load_model(name, template=None, keep_alive=None):
    """A model, with variables of its chat template, and the seconds it stays unused. One that is not in memory may take
    long: on another thread. Raises Refusal for one that is unknown."""
    try:
        return Model.load(name, template=template, keep_alive=keep_alive)
    except Exception as error:
        if getattr(error, "code", "") == "model_not_found":
            raise Refusal.unknown_model(name, runtime.models()) from None
        raise


def load_kept(request):
    """The model of an Ollama request, to stay unused for as long as that says; where it says nothing, as the engine
    does. Raises Refusal."""
    given = request.keep_alive
    if isinstance(given, str):
        unit = given.lstrip("-0123456789.")
        given = float(given.removesuffix(unit)) * UNITS[unit or "s"]
    return load_model(request.model_name, keep_alive=given)


def check_bias(request, model):
    """Raises Refusal for a token of `logit_bias` that the model does not have."""
    size = model.info.vocabulary_size
    beyond = next((token for token in request.logit_bias if int(token) >= size), None)
    if beyond is not None:
        raise Refusal(400, f"logit_bias: token {beyond} is outside the vocabulary of {size:,}", param="logit_bias")


def load_with_variables(request, terms):
    """The model of a ChatRequest, with its reasoning effort and template variables. Raises Refusal."""
    model, variables = load_model(request.model), request.chat_template_kwargs
    if request.effort is not None:
        told = _thinking(request.effort, model.template_variables)
        variables = {**told, **variables}
        if not told and request.effort == "none":
            request.thinking_budget = 0
        elif not told:
            request.left_out.append(terms.effort)
    unknown = sorted(variables.keys() - set(model.template_variables))
    if unknown:
        known = ", ".join(model.template_variables) or "none"
        text = f"the chat template of {model.name} reads no '{unknown[0]}': it reads {known}"
        raise Refusal(400, text, param=f"chat_template_kwargs.{unknown[0]}")
    return load_model(request.model, variables) if variables else model


def _thinking(effort, variables):
    """The variable that tells a template how much to think; none where it reads none: an effort is a hint."""
    if "reasoning_effort" in variables:
        return {"reasoning_effort": effort}
    if "enable_thinking" in variables:
        return {"enable_thinking": effort != "none"}
    return {}


def prompts_of(given, param):
    """`Prompts` as a list of texts, or of lists of tokens. Raises Refusal for a mixture."""
    kinds = {type(one) for one in given} if isinstance(given, list) else {str}
    if len(kinds) != 1:
        raise Refusal(400, f"{param}: give a text, texts, tokens or lists of tokens", param=param)
    return [given] if isinstance(given, str) or kinds == {int} else given


def encoded(model, text, param):
    """The tokens of a text. Raises Refusal for a text whose beginning already has more than the model reads."""
    tokenizer, roomy = model.tokenizer(), ROOMY_TOKEN * model.info.maximum_positions
    if len(text) > roomy:
        check_fits(model, len(tokenizer.encode(text[:roomy], begins=True)), param, "at least ")
    return tokenizer.encode(text, begins=True)


def checked_length(context, param):
    """The number of tokens of the prompt in the buffer. Raises Refusal for none, and for more than the model reads."""
    count = len(context.buffer())
    if count == 0:
        raise Refusal(400, f"{param}: it is empty", param=param)
    check_fits(context.model, count, param)
    return count


def check_fits(model, count, param, precision=""):
    """Raises Refusal for a prompt of more tokens than the model reads."""
    limit = model.info.maximum_positions
    if count >= limit:
        raise Refusal(
            400,
            f"This model's maximum context length is {limit} tokens, the prompt alone has {precision}{count}",
            param=param,
            code="context_length_exceeded",
        )


MOST_LEVELS = 200
"""The depth of a schema: later stages read no deeper one."""


@dataclass(frozen=True)
class Rules:
    """`schemas` are the tools offered to the model. `make` gives a constraint for one choice, None without one.

    `make_call` gives the constraint from the beginning of a tool call on, for tools that are strict.
    """

    schemas: list[dict] = field(default_factory=list)
    make: object = None
    make_call: object = None


def rules_of(request, model, terms):
    """The rules of a ChatRequest. Raises Refusal for what cannot be enforced, and the engine's GrammarError."""
    choice = request.tool_choice or ("auto" if request.tools else "none")
    if choice != "none" and not request.tools:
        raise Refusal(400, "tool_choice: there are no tools", param="tool_choice")
    for tool in request.tools:
        _check_depth(f"tools: the schema of '{tool.function.name}'", tool.function.parameters, "tools")
    schemas = [] if choice == "none" else [_schema(tool) for tool in request.tools]
    format = _format_constraint(model, request.response_format, terms.format)
    if choice not in ("none", "auto"):
        return Rules(schemas, _calls(model, _chosen(choice, schemas), "tool_choice"))
    if format is not None and choice == "auto":
        return Rules(schemas, _format_or_calls(model, format, schemas, terms.format))
    strict = choice == "auto" and any(tool.function.strict for tool in request.tools)
    return Rules(schemas, format, _calls(model, schemas, terms.strict) if strict else None)


def _format_or_calls(model, format, schemas, param):
    """A constraint for either the format or calls: it holds from the first token, so it must cover calls too."""
    if model.info.formats.channels:
        # After an analysis there may come a call, which is not part of the text before an answer.
        text = f"{param}: not together with tools on this model, unless tool_choice is none"
        raise Refusal(400, text, param=param)
    calls = _calls(model, schemas, param)
    return lambda: Alternatives([format().matcher, calls().matcher])


def _schema(tool):
    """A tool in the form that templates expect."""
    function = msgspec.to_builtins(tool.function)
    function.pop("strict", None)
    return {"type": "function", "function": function}


def _chosen(choice, schemas):
    if not isinstance(choice, NamedChoice):
        return schemas
    name = choice.function.name
    found = [schema for schema in schemas if schema["function"]["name"] == name]
    if not found:
        raise Refusal(400, f"tool_choice: no tool is named '{name}'", param="tool_choice")
    return found


def _calls(model, schemas, param):
    matcher = tools.native_matcher(model, schemas)
    if matcher is None:
        raise Refusal(400, f"{param}: cannot be enforced with this model: leave it out", param=param)
    return lambda: GrammarConstraint(matcher.fork())


def _check_depth(what, schema, param):
    level, depth = [schema], 0
    while level := [inner for one in level if isinstance(one, dict | list) for inner in _inside(one)]:
        depth += 1
    if depth > MOST_LEVELS:
        text = f"{what} is nested {depth} levels deep, at most {MOST_LEVELS}: move inner ones into $defs"
        raise Refusal(400, text, param=param)


def _inside(value):
    return value.values() if isinstance(value, dict) else value


def _format_constraint(model, format, param):
    match format:
        case AnyObject():
            schema = JsonSchema({"type": "object"}, strict=False)
        case SchemaFormat(json_schema=described):
            _check_depth(f"the schema '{described.name}'", described.schema, param)
            options = {"known_formats": described.known_formats, "separators": described.separators}
            schema = JsonSchema(described.schema, strict=bool(described.strict), **options)
        case _:
            return None
    formats = model.info.formats
    # A Choice itself waits for the end of reasoning that the cue has opened.
    behind = formats.answer_opening if formats.channels else ""
    matcher = GrammarConstraint.from_grammar(schema, model, behind=behind).matcher
    return lambda: GrammarConstraint(matcher.fork())


async def begin_replies(request, size, terms):
    """The beginning of the replies to a ChatRequest of `size` bytes, to be awaited: their costs and their parts. Its
    model is loaded before.

    Raises Refusal with the field names of `terms`, and the engine's errors; for what is wrong with the prompt itself,
    such as its length, only the beginning does.
    """
    return _begun(request, size, terms, *await _checked(request, terms))


async def _begun(request, size, terms, model, rules, conversation):
    context = await _read(request, size, terms, model, rules, conversation)
    costs = Costs(len(context.buffer()), context.page_size)
    make = partial(_choice, request, rules)
    return costs, replies([context], request.n, costs, make, tells_progress=request.tells_progress)


async def count_tokens(request, size, terms):
    """The number of tokens in the prompt of a ChatRequest. Raises as `begin_replies`."""
    return len((await _read(request, size, terms, *await _checked(request, terms))).buffer())


async def _checked(request, terms):
    def check():
        model = load_with_variables(request, terms)
        check_bias(request, model)
        return model, rules_of(request, model, terms), conversation_of(model, request.messages, terms)

    # A model may have to be loaded, and grammars take time.
    return await asyncio.to_thread(check)


async def _read(request, size, terms, model, rules, conversation):
    """A context with the prompt in its buffer."""

    def read():
        context = Context(model)
        write(context, conversation, rules.schemas, terms)
        checked_length(context, terms.messages)
        return context

    return await aside(request.tools or size > SHORT_BYTES, read)


def _choice(request, rules, context, index):
    limit = request.max_completion_tokens or request.max_tokens
    top = request.top_logprobs if request.logprobs else None
    one_call = not request.parallel_tool_calls or isinstance(request.tool_choice, NamedChoice)
    sampling = sampling_of(request, index, limit, top=top, one_call=one_call, thought_tokens=request.thought_tokens)
    decoder = ReplyDecoder(context.model, [json.dumps(schema) for schema in rules.schemas])
    return Choice(context, sampling, decoder, rules, index)
