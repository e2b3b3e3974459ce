"""Things said earlier in the conversation and asked for later."""

from collections.abc import Callable

from tools.tiny.text import facts, identity, words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

Memory = tuple[str, str, str, str]
"""What is told, the reply, the later question and its answer."""


TOLD_NAME = phrases("""My name is {n}. | I am {n}. | Hi, I am {n}. | Hello, my name is {n}. | Call me {n}. |
You can call me {n}. | This is {n}. | I'm {n}. |
People call me {n}. | The name is {n}. | My first name is {n}. | I go by {n}. | They call me {n}. | It is me, {n}. |
Here is {n}. | Remember me, I am {n}. | By the way, my name is {n}. | Please call me {n}. | You are talking to {n}. |
Note my name: {n}. | I have the name {n}.""")
ASKED_NAME = phrases("""What is my name? | Who am I? | Do you know my name? | Do you remember my name? |
What am I called? | Tell me my name. | What did I say my name was? | Say my name. |
And my name is? | Can you tell me my name? | Which name do I have? | What name did I give you? | How am I called? |
Do you still know who I am? | Please say my name. | What is the name I told you? | Remind me of my name. |
How did I say I am called? | Who is talking to you? | What is it that people call me? | My name?""")
TOLD_FAVOURITE = phrases("""My favourite {k} is {v}. | I like the {k} {v} best. |
The {k} I like most is {v}. | {v} is my favourite {k}. | Remember my favourite {k}: {v}. |
For me the best {k} is {v}. |
I love the {k} {v}. | {v} is the best {k}. | The {k} {v} is my favourite. | As for the {k}, I like {v} most. |
My best loved {k} is {v}. | I like {v} more than any other {k}. | No {k} is better than {v}. |
If I choose a {k}, it is {v}. | Among all I like the {k} {v}. | Note: my favourite {k} is {v}.""")
ASKED_FAVOURITE = phrases("""What is my favourite {k}? | Which {k} do I like best? |
What {k} do I like most? | Do you remember my favourite {k}? | Tell me my favourite {k}. |
My favourite {k}? |
And my favourite {k}? | Which {k} is my favourite? | What is the {k} I like best? | Which {k} do I love? |
Name my favourite {k}. | Can you tell me my favourite {k}? | Say my favourite {k}. |
What did I say is my favourite {k}? | Which {k} did I like most? | My best {k} was which one? |
I like which {k} most?""")
TOLD_CODE = phrases("""The {k} is {v}. | Remember the {k} {v}. | My {k} is {v}. |
Please remember the {k}: {v}. | Keep this {k}: {v}. | The {k} is {v}, do not forget it. |
Note the {k}: {v}. | {v} is the {k}. | Our {k} is {v}. | Here is the {k}: {v}. | Do not forget the {k} {v}. |
I give you the {k}: {v}. | The new {k} is {v}. | Store the {k} {v}. | This is the {k}: {v}. | You need the {k} {v}. |
Memorize the {k}: {v}. | For later: the {k} is {v}.""")
ASKED_CODE = phrases("""What is the {k}? | What was the {k}? | Tell me the {k}. | Do you remember the {k}? |
The {k}, please. | Which {k} did I tell you? | Give me the {k}. |
And the {k}? | What is my {k}? | Can you tell me the {k}? | I forgot the {k}. | Which is the {k}? |
Say the {k} again. | I need the {k}. | Do you still know the {k}? | Remind me of the {k}. | What {k} did I give you? |
Repeat the {k}. | The {k} was? | Please give me the {k} again.""")
TOLD_HOME = phrases("""I live in {c}. | I am from {c}. | My home is {c}. | I come from {c}. |
I moved to {c}. | My home town is {c}. |
I am living in {c}. | {c} is my home. | My house is in {c}. | I grew up in {c}. | My flat is in {c}. |
We live in {c}. | I have lived in {c} for years. | You find me in {c}. | I am at home in {c}. | My city is {c}. |
I call {c} my home.""")
ASKED_HOME = phrases("""Where do I live? | Which city do I live in? | Where is my home? |
What is my home town? | Where am I from? | Do you know where I live? |
Where do I come from? | What city am I from? | In which city do I live? | Which city is my home? |
Where is my house? | Tell me where I live. | What is my city? | Where am I at home? | In what city is my flat? |
Say where I live. | And where do I live? | Which town do I live in?""")
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
        worded(source, TOLD_NAME, n=name),
        f"Nice to meet you, {name}!",
        worded(source, ASKED_NAME),
        f"Your name is {name}.",
    )


def _favourite(source: Source) -> Memory:
    kind, options = source.any(FAVOURITES)
    value = words.listed(source, options)
    return (
        worded(source, TOLD_FAVOURITE, k=kind, v=value),
        "I will remember that.",
        worded(source, ASKED_FAVOURITE, k=kind),
        f"Your favourite {kind} is {value}.",
    )


def _code(source: Source) -> Memory:
    kind = source.any(SECRETS)
    value = words.made_up(source) if kind == "secret word" else words.identifier(source)
    return (
        worded(source, TOLD_CODE, k=kind, v=value),
        "I will remember that.",
        worded(source, ASKED_CODE, k=kind),
        f"The {kind} is {value}.",
    )


def _home(source: Source) -> Memory:
    city = words.city(source)
    return worded(source, TOLD_HOME, c=city), "Good to know.", worded(source, ASKED_HOME), f"You live in {city}."


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
