"""Things said earlier in the conversation and asked for later."""

from collections.abc import Callable

from tools.tiny.text import facts, identity, words
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

Memory = tuple[str, str, str, str]
"""What is told, the reply, the later question and its answer."""


TOLD_NAME = phrases("""My name is {n}. | I am {n}. | Hi, I am {n}. | Hello, my name is {n}. | Call me {n}. |
You can call me {n}. | This is {n}. | I'm {n}.""")
ASKED_NAME = phrases("""What is my name? | Who am I? | Do you know my name? | Do you remember my name? |
What am I called? | Tell me my name. | What did I say my name was? | Say my name.""")
TOLD_FAVOURITE = phrases("""My favourite {k} is {v}. | I like the {k} {v} best. |
The {k} I like most is {v}. | {v} is my favourite {k}. | Remember my favourite {k}: {v}. |
For me the best {k} is {v}.""")
ASKED_FAVOURITE = phrases("""What is my favourite {k}? | Which {k} do I like best? |
What {k} do I like most? | Do you remember my favourite {k}? | Tell me my favourite {k}. |
My favourite {k}?""")
TOLD_CODE = phrases("""The {k} is {v}. | Remember the {k} {v}. | My {k} is {v}. |
Please remember the {k}: {v}. | Keep this {k}: {v}. | The {k} is {v}, do not forget it.""")
ASKED_CODE = phrases("""What is the {k}? | What was the {k}? | Tell me the {k}. | Do you remember the {k}? |
The {k}, please. | Which {k} did I tell you? | Give me the {k}.""")
TOLD_HOME = phrases("""I live in {c}. | I am from {c}. | My home is {c}. | I come from {c}. |
I moved to {c}. | My home town is {c}.""")
ASKED_HOME = phrases("""Where do I live? | Which city do I live in? | Where is my home? |
What is my home town? | Where am I from? | Do you know where I live?""")
FAVOURITES = (
    ("colour", words.COLOURS),
    ("animal", words.ANIMALS),
    ("food", words.FOODS),
    ("city", words.CITIES),
    ("topic", words.TOPICS),
)
SECRETS = ("code", "password", "room number", "secret word", "order number")


def _name(source: Source) -> Memory:
    name = words.first_name(source)
    return (
        source.fill(TOLD_NAME, n=name),
        f"Nice to meet you, {name}!",
        source.one(ASKED_NAME),
        f"Your name is {name}.",
    )


def _favourite(source: Source) -> Memory:
    kind, options = source.any(FAVOURITES)
    value = source.one(options)
    return (
        source.fill(TOLD_FAVOURITE, k=kind, v=value),
        "I will remember that.",
        source.fill(ASKED_FAVOURITE, k=kind),
        f"Your favourite {kind} is {value}.",
    )


def _code(source: Source) -> Memory:
    kind = source.any(SECRETS)
    value = words.syllables(source) if kind == "secret word" else words.identifier(source)
    return (
        source.fill(TOLD_CODE, k=kind, v=value),
        "I will remember that.",
        source.fill(ASKED_CODE, k=kind),
        f"The {kind} is {value}.",
    )


def _home(source: Source) -> Memory:
    city = words.city(source)
    return source.fill(TOLD_HOME, c=city), "Good to know.", source.one(ASKED_HOME), f"You live in {city}."


KINDS: tuple[Callable[[Source], Memory], ...] = (_name, _favourite, _code, _home)


def _at_once(source: Source) -> Sample:
    """Told and asked in one message."""
    statement, _, question, answer = source.any(KINDS)(source)
    return Sample("memory", (user(f"{statement} {question}"), assistant(answer)), Check("exact", answer))


def make_memory(source: Source) -> Sample:
    if source.chance(0.1):
        return _at_once(source)
    told = [kind(source) for kind in source.random.sample(KINDS, source.integer(1, 4))]
    turns: list[Message] = [system(source.one(identity.SYSTEMS))] if source.chance(0.3) else []
    for statement, reply, _, _ in told:
        turns += [user(statement), assistant(reply)]
        if source.chance(0.3):
            asked, said = source.any((facts.question, identity.small_talk))(source)
            turns += [user(asked), assistant(said)]
    answer = ""
    for _, _, question, answer in source.random.sample(told, source.integer(1, len(told))):
        turns += [user(question), assistant(answer)]
    return Sample("memory", tuple(turns), Check("exact", answer))
