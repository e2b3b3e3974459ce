"""Conversations with offered tools: the right call, the answer after it, errors, two calls, nothing fitting."""

from dataclasses import dataclass, replace
from typing import Any

from tools.tiny.text import facts, identity, words
from tools.tiny.text.arithmetic import THINK
from tools.tiny.text.catalogue import Concept
from tools.tiny.text.everyday import EVERYDAY
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, Tool, assistant, calling, result, system, user
from tools.tiny.text.source import Source
from tools.tiny.text.synthesis import ask, synthesise
from tools.tiny.text.tool_names import renamed, shared_prefix, unheard
from tools.tiny.text.tool_wordings import CLOSERS, ERRORS, JOINTS, OPENERS, SYSTEMS, UNSERVED

# What examples and tutorials offer: weather, time, add, multiply, search, email.
_EXAMPLES = ("get_weather", "get_time", "add", "multiply", "search", "send_email")
COMMON = tuple(concept for concept in EVERYDAY if concept.names[0] in _EXAMPLES)
# Told apart only by what they are for: names and parameters are alike.
ARITHMETIC = tuple(concept for concept in EVERYDAY if concept.names[0] in ("add", "multiply", "subtract"))
# A model without tools adds, subtracts and knows capitals by itself; a note it just keeps.
ANSWERED_ANYWAY = (
    *("add", "subtract", "multiply", "calculate", "get_capital", "translate"),
    *("save_note", "save_contact", "log_expense"),
)
# What stands in a list may be held out.
LISTED_NAMES = frozenset(name for concept in EVERYDAY for name in concept.names)
NOTHING = "I have no tool for that."
FEW_TOOLS = 4
# How many tools a call is chosen from: trained more often from many, since those are learned last.
HELDOUT_COUNTS = (1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6)
TRAINED_COUNTS = (1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6)
# Tools that can serve the same wish: never one offered beside another, or missing where another is offered.
SIMILAR = (
    frozenset({"calculate", "add", "multiply", "subtract"}),
    frozenset({"get_price", "stock_price"}),
    frozenset({"send_email", "send_message"}),
    frozenset({"create_reminder", "create_event", "save_note"}),
    frozenset({"create_event", "book_table"}),
    frozenset({"save_note", "save_contact", "log_expense"}),
    frozenset({"order_food", "log_expense"}),
    frozenset({"read_file", "print_file"}),
    frozenset({"roll_dice", "flip_coin"}),
    frozenset({"search", "define_word"}),
    frozenset({"translate", "define_word"}),
    frozenset({"set_timer", "set_alarm"}),
    frozenset({"get_order", "order_food"}),
)


@dataclass(frozen=True)
class Offer:
    """A tool as offered in one conversation: fixed names, and enough to ask for it."""

    concept: Concept
    name: str
    keys: tuple[str, ...]
    optional: frozenset[str]
    verb: str = ""
    noun: str = ""
    described: bool = False
    """Whether its description is needed to know what it is for."""


@dataclass(frozen=True)
class Request:
    """One wish: the words, the call it needs, and the spoken values."""

    text: str
    offer: Offer
    arguments: dict[str, Any]
    spoken: tuple[str, ...]


def _plain_offer(concept: Concept) -> Offer:
    """A tool under its plainest names, which only training may use."""
    return Offer(concept, concept.names[0], tuple(field.names[0] for field in concept.fields), frozenset())


def _offer(source: Source, concept: Concept, verb: str = "", noun: str = "") -> Offer:
    keys: list[str] = []
    for field in concept.fields:
        keys.append(source.any([name for name in field.names if name not in keys] or [f"{field.names[0]}_{len(keys)}"]))
    optional = frozenset(key for key in keys if verb and len(keys) > 1 and source.chance(0.15))
    return Offer(concept, source.one(concept.names), tuple(keys), optional, verb, noun)


def make_offer(source: Source, invented: float = 0.5, pool: tuple[Concept, ...] = EVERYDAY) -> Offer:
    if source.chance(invented):
        return _offer(source, *synthesise(source))
    concept = source.any(pool)
    if pool is COMMON and source.varied and source.chance(0.5):
        return _plain_offer(concept)
    return _offer(source, concept)


def _sibling(source: Source, offer: Offer) -> Offer:
    """An invented tool with the same verb or the same noun, so that names are told apart by what is left."""
    shared = {"verb": offer.verb} if source.chance(0.5) else {"noun": offer.noun}
    return _offer(source, *synthesise(source, **shared))


def _sibling_of_some(source: Source, offers: list[Offer], part: float) -> Offer | None:
    """A sibling of one of the invented ones, in this part of what is trained on."""
    if not source.varied or not source.chance(part):
        return None
    invented = [offer for offer in offers if offer.verb]
    return _sibling(source, source.any(invented)) if invented else None


def schema(source: Source, offer: Offer, wrapped: bool, described: float) -> Tool:
    """The JSON schema of an offer, as frameworks write it."""
    properties: dict[str, Any] = {}
    for key, field in zip(offer.keys, offer.concept.fields, strict=True):
        entry: dict[str, Any] = {"type": field.type}
        if field.type == "array":
            entry["items"] = {"type": "string"}
        if source.chance(described * 0.5):
            entry["description"] = f"The {key.replace('_', ' ')}"
        properties[key] = entry
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    required = [key for key in offer.keys if key not in offer.optional]
    if required and source.chance(0.85):
        parameters["required"] = required
    function: Tool = {"name": offer.name}
    if offer.described or source.chance(described):
        function["description"] = source.one(offer.concept.descriptions)
    function["parameters"] = parameters
    return {"type": "function", "function": function} if wrapped else function


def schemas(source: Source, offers: list[Offer]) -> tuple[Tool, ...]:
    wrapped, described = source.chance(0.7), source.any((0.0, 0.9, 0.9, 1.0))
    return tuple(schema(source, offer, wrapped, described) for offer in offers)


def request(source: Source, offer: Offer) -> Request:
    arguments: dict[str, Any] = {}
    spoken: list[str] = []
    for key, field in zip(offer.keys, offer.concept.fields, strict=True):
        said, value = field.make(source)
        spoken.append(said)
        if key not in offer.optional or source.chance(0.5):
            arguments[key] = value
    if offer.verb:
        pairs = [(key, said) for key, said in zip(offer.keys, spoken, strict=True) if key in arguments]
        text = ask(source, offer.concept, offer.verb, offer.noun, pairs)
    else:
        text = worded(source, offer.concept.asks, *spoken)
    return Request(_dressed(source, text), offer, arguments, tuple(spoken))


def _dressed(source: Source, text: str) -> str:
    if source.chance(0.1):
        text = source.one(OPENERS) + text
    if text[-1] in ".?!" and source.chance(0.06):
        text += source.one(CLOSERS)
    return text


def failure(source: Source, error: str) -> tuple[Any, str, list[str]]:
    """A result that is this error, the sentence that reports it, and what this must contain."""
    shape = source.any(({"error": error}, f"error: {error}", {"status": "error", "message": error}))
    return shape, f"Sorry, that did not work: {error}.", [error]


def _sentence(wish: Request, pairs: list[tuple[str, Any, str]]) -> str:
    """What is said about the values of a result, each given as (key, value, its wording)."""
    if wish.offer.verb:
        said = words.joined([f"the {key.replace('_', ' ')} is {value}" for key, value, _ in pairs])
        return f"Done: {said}."
    fragments = words.joined([form.format(value) for _, value, form in pairs])
    answer = wish.offer.concept.answer.format(*wish.spoken, o=fragments)
    return answer[0].upper() + answer[1:]


def outcome(source: Source, wish: Request) -> tuple[Any, str, list[str]]:
    """A result, the sentence that reports it, and the values this must contain."""
    if source.chance(0.07):
        return failure(source, source.one(ERRORS))
    concept = wish.offer.concept
    chosen = list(concept.outcomes[: source.integer(1, len(concept.outcomes))])
    if len(chosen) > 1 and source.chance(0.3):
        source.random.shuffle(chosen)
    pairs = [(source.any(item.names), item.make(source), item.said) for item in chosen]
    if len({key for key, _, _ in pairs}) < len(pairs):
        pairs = pairs[:1]
    return _shaped(source, wish, pairs), _sentence(wish, pairs), [str(value) for _, value, _ in pairs]


def _shaped(source: Source, wish: Request, pairs: list[tuple[str, Any, str]]) -> Any:
    """A bare value, a line of text, or an object that may repeat an argument."""
    if not wish.offer.verb and source.chance(0.2):
        return pairs[0][1] if len(pairs) == 1 else ", ".join(form.format(value) for _, value, form in pairs)
    values = {key: value for key, value, _ in pairs}
    if wish.arguments and source.chance(0.15):
        key = source.any(sorted(wish.arguments))
        values = {key: wish.arguments[key], **values} if key not in values else values
    return values


def opening(source: Source) -> list[Message]:
    """A system prompt, or none."""
    return [system(source.one(SYSTEMS))] if source.chance(0.5) else []


def _plain_name(offer: Offer) -> str:
    return f"{offer.verb}_{offer.noun}" if offer.verb else offer.concept.names[0]


def _clash(offer: Offer, other: Offer) -> bool:
    """Whether the two are one tool, or too alike to know which one is meant."""
    plain = (_plain_name(offer), _plain_name(other))
    if offer.name == other.name or plain[0] == plain[1]:
        return True
    if offer.verb or other.verb:
        return False
    # Adding and multiplying can be told apart; both are a calculation.
    apart = {"add", "multiply", "subtract"}
    return any(set(plain) <= group for group in SIMILAR) and not set(plain) <= apart


def distinct_offers(source: Source, count: int) -> list[Offer]:
    """Different tools: invented and everyday ones mixed, everyday ones only, or only the most common ones."""
    kind = source.any(("mixed", "mixed", "everyday", "common", "common"))
    pool = COMMON if kind == "common" else EVERYDAY
    if source.varied and kind == "common" and 1 < count <= len(ARITHMETIC) and source.chance(0.35):
        pool = ARITHMETIC
    offers: list[Offer] = []
    while len(offers) < count:
        sibling = _sibling_of_some(source, offers, 0.4)
        offer = sibling or make_offer(source, 0.6 if kind == "mixed" else 0.0, pool)
        if not any(_clash(offer, other) for other in offers):
            offers.append(offer)
    return _renamed(source, offers) if source.split == "train" else offers


def _renamed(source: Source, offers: list[Offer]) -> list[Offer]:
    """Some of them under names that no list has, or all behind one prefix, so that names are read to their end.

    Of few names per tool, an unseen one (`getLocalTime`) was taken for one that begins alike (`getTime`, `getSum`).
    """
    prefix = shared_prefix(source) if source.varied and source.chance(0.2) else ""
    often = 1.0 if source.varied else 0.5
    found: list[Offer] = []
    for offer in offers:
        named = offer
        if not prefix and not offer.verb and source.chance(0.15 * often):
            # Undescribed, it is known by its parameters, and by what the others are not for.
            named = replace(offer, name=unheard(source), described=source.chance(0.6))
        elif prefix or source.chance(0.6 * often):
            named = replace(offer, name=renamed(source, offer.name, prefix))
        taken = named.name in LISTED_NAMES or named.name in (other.name for other in found)
        found.append(offer if taken else named)
    return found


def exchange(source: Source, wish: Request, thinks: bool = False) -> tuple[list[Message], list[str]]:
    """A wish, its call, the result and the answer; and the values the answer must contain."""
    value, answer, values = outcome(source, wish)
    plan, done = (f"I need {wish.offer.name}.", "I have the result.") if thinks else (None, None)
    call = calling((wish.offer.name, wish.arguments), thought=plan)
    return [user(wish.text), call, result(value), assistant(answer, done)], values


def judged_call(wish: Request, turns: tuple[Message, ...], tools: tuple[Tool, ...]) -> Sample:
    """A conversation that ends in the call of this wish, and is judged by it."""
    task = "tool call" if len(tools) <= FEW_TOOLS else "one of many tools"
    return Sample(task, turns, Check("calls", [(wish.offer.name, wish.arguments)]), tools)


def make_calls(source: Source) -> Sample:
    """One to five wishes; the last one ends in its call or in the answer after the result."""
    offers = distinct_offers(source, source.any(TRAINED_COUNTS if source.split == "train" else HELDOUT_COUNTS))
    thinks = source.chance(0.07)
    turns = [system(source.one(THINK))] if thinks else opening(source)
    values: list[str] = []
    wish = request(source, source.any(offers))
    for _ in range(source.any((1, 2, 3, 4, 4, 5))):
        wish = request(source, source.any(offers))
        if source.chance(0.15):
            asked, said = unserved(source, offers)
            turns += [user(asked), assistant(said, "I need no tool." if thinks else None)]
        done, values = exchange(source, wish, thinks)
        turns += done
    tools = schemas(source, offers)
    if source.chance(0.5):
        return judged_call(wish, tuple(turns[:-2]), tools)
    return Sample("answer from result", tuple(turns), Check("contains", values), tools)


def _joint(source: Source) -> str:
    """What stands between two wishes; words never seen there must not become part of one."""
    if source.varied and source.chance(0.3):
        said = words.phrase(source) if source.chance(0.5) else words.made_up(source)
        return source.any((" ", " ", "\n")) + said.capitalize() + source.any((": ", ": ", ", ", " "))
    return source.one(JOINTS)


def _two_wishes(source: Source, offers: list[Offer]) -> tuple[list[Message], list[str]]:
    """Two wishes in one turn, two calls, two results, one answer; and the values the answer must contain."""
    first = request(source, source.any(offers))
    second = request(source, source.any(offers))
    joint = _joint(source)
    (value_1, answer_1, said_1), (value_2, answer_2, said_2) = outcome(source, first), outcome(source, second)
    calls = [(wish.offer.name, wish.arguments) for wish in (first, second)]
    turns = [user(first.text + joint + second.text), calling(*calls), result(value_1), result(value_2)]
    return [*turns, assistant(f"{answer_1} {answer_2}")], said_1 + said_2


def make_two_calls(source: Source) -> Sample:
    """Two wishes at once, up to three times; held out is judged by the calls."""
    offers = distinct_offers(source, source.any((1, 2, 2, 3)))
    turns = opening(source)
    said: list[str] = []
    for _ in range(source.any((1, 1, 2) if source.split == "heldout" else (1, 2, 3))):
        done, said = _two_wishes(source, offers)
        turns += done
    tools = schemas(source, offers)
    if source.split == "heldout" or source.chance(0.3):
        calls = [(c["function"]["name"], c["function"]["arguments"]) for c in turns[-4]["tool_calls"]]
        return Sample("two calls", tuple(turns[:-3]), Check("calls", calls), tools)
    return Sample("two calls", tuple(turns), Check("contains", said), tools)


def _side_question(source: Source, offered: list[Offer]) -> tuple[str, str]:
    """Small talk or a fact that none of the offered tools looks up."""
    looks_up = any(offer.concept.names[0] == "get_capital" for offer in offered)
    return identity.small_talk(source) if looks_up else source.any((facts.question, identity.small_talk))(source)


def unserved(source: Source, offered: list[Offer]) -> tuple[str, str]:
    """A question or wish that none of the offered tools serves, and its answer."""
    if source.chance(0.4):
        return _side_question(source, offered)
    if source.chance(0.15):
        return worded(source, UNSERVED), NOTHING
    offer = _sibling_of_some(source, offered, 0.2) or make_offer(source, invented=0.3)
    while any(_clash(offer, other) for other in offered):
        offer = make_offer(source, invented=0.3)
    return request(source, offer).text, NOTHING


def _wish_without_tools(source: Source) -> Sample:
    """A wish that needs a tool in a conversation that has none."""
    concept = source.any([concept for concept in EVERYDAY if concept.names[0] not in ANSWERED_ANYWAY])
    turns = [*opening(source), user(request(source, _offer(source, concept)).text), assistant(NOTHING)]
    return Sample("no tool fits", tuple(turns), Check("no_call"))


def make_no_tool(source: Source) -> Sample:
    """Tools are offered, but the wish needs none of them (or one that is not there)."""
    if source.chance(0.3):
        return _wish_without_tools(source)
    offers = distinct_offers(source, source.integer(1, 4))
    turns = opening(source)
    for _ in range(source.integer(1, 3)):
        if source.chance(0.4):
            turns += exchange(source, request(source, source.any(offers)))[0]
        question, answer = unserved(source, offers)
        turns += [user(question), assistant(answer)]
    return Sample("no tool fits", tuple(turns), Check("no_call"), schemas(source, offers))
