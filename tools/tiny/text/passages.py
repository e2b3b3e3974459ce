"""Questions about a passage in the prompt, one to four to the same passage."""

from collections.abc import Callable

from tools.tiny.text import words
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

Statement = tuple[str, str, str]
"""A sentence of the passage, a question about it, and the answer."""

WHERE = phrases("""Where is the {item}? | In which place is the {item}? | Where can I find the {item}? |
In which room is the {item}? | Where is the {adjective} {item}? | Tell me where the {item} is. |
I need the {item}. Where is it?""")
OWNER = phrases("""What is the name of {name}'s {animal}? | How is the {animal} of {name} called? |
What animal does {name} have? | Which pet has {name}? | Who is {pet}? | What does {name} own? |
Tell me about the pet of {name}.""")
JOB = phrases("""What is {name}'s job? | What does {name} do? | Where does {name} work? |
In which city does {name} work? | As what does {name} work? | Tell me the job of {name}. |
What work does {name} do?""")
OPENS = phrases("""When does the {place} open? | At what time does the {place} open? |
What time does the {place} open? | Opening time of the {place}? | When can I enter the {place}? |
When is the {place} open? | Tell me when the {place} opens.""")
COSTS = phrases("""How much is the {item}? | What does the {item} cost? | What is the price of the {item}? |
How expensive is the {item}? | Price of the {item}? | How many euros for the {item}? |
Tell me the price of the {item}.""")
CODE = phrases("""What is the code of the {item}? | Code of the {item}? | Which code has the {item}? |
Tell me the code of the {item}. | Give me the {item} code. | How do I open the {item}? |
I forgot the code of the {item}.""")
MEETING = phrases("""When is the {event}? | On which day is the {event}? | When is the {event} with {name}? |
Who comes to the {event}? | What is on {day}? | With whom is the {event}? | Which day is the {event}?""")


def _stated(source: Source, text: str, questions: tuple[str, ...], answer: str = "", **values: object) -> Statement:
    return text.format(**values), source.fill(questions, **values), (answer or text).format(**values)


def _where(source: Source) -> Statement:
    return _stated(
        source,
        "The {adjective} {item} is in the {place}.",
        WHERE,
        "The {item} is in the {place}.",
        item=source.one(words.OBJECTS),
        place=source.one(words.PLACES),
        adjective=source.one(words.ADJECTIVES),
    )


def _owner(source: Source) -> Statement:
    return _stated(
        source,
        "{name} has a {animal} called {pet}.",
        OWNER,
        name=words.first_name(source),
        animal=source.one(words.ANIMALS),
        pet=words.first_name(source),
    )


def _job(source: Source) -> Statement:
    return _stated(
        source,
        "{name} works as a {job} in {city}.",
        JOB,
        name=words.first_name(source),
        job=source.one(words.JOBS),
        city=words.city(source),
    )


def _opens(source: Source) -> Statement:
    return _stated(
        source, "The {place} opens at {time}.", OPENS, place=source.one(words.PLACES), time=words.clock(source)
    )


def _costs(source: Source) -> Statement:
    return _stated(
        source, "The {item} costs {price} euros.", COSTS, item=source.one(words.FOODS), price=source.integer(1, 99)
    )


def _code(source: Source) -> Statement:
    return _stated(
        source, "The code of the {item} is {code}.", CODE, item=source.one(words.OBJECTS), code=words.identifier(source)
    )


def _meeting(source: Source) -> Statement:
    return _stated(
        source,
        "The {event} with {name} is on {day}.",
        MEETING,
        event=source.one(words.EVENTS),
        day=source.any(words.WEEKDAYS),
        name=words.first_name(source),
    )


STATEMENTS: tuple[Callable[[Source], Statement], ...] = (_where, _owner, _job, _opens, _costs, _code, _meeting)
FRAMES = phrases("""{p}\n\n{q} | Passage: {p}\nQuestion: {q} | Text: {p}\n{q} | Read this: {p}\n{q} |
{q}\n\n{p} | Answer from the passage.\n{p}\n{q} | Context: {p}\n\nQuestion: {q} | Use this text: {p}\n\n{q} |
Here is a text. {p} {q} | Notes: {p}\n{q} | Document:\n{p}\n\n{q} | Given: {p}\nAnswer: {q}""")
SYSTEM_FRAMES = phrases("""Answer from this text: {p} | Passage: {p} | You know this: {p} | Context:\n{p} |
{p} | Use only this text.\n{p} | Facts: {p} | Read the text and answer questions. {p}""")
MISSING = "The text does not say."


def passage(source: Source, count: int) -> list[Statement]:
    """Statements about different things: no first question fits two of them."""
    chosen: list[Statement] = []
    seen: set[str] = set()
    tries = 0
    while len(chosen) < count and tries < 8 * count:
        statement = source.any(STATEMENTS)(source)
        parts = {part.strip(".,'s") for part in statement[0].split()} - _GLUE
        if not parts & seen:
            seen |= parts
            chosen.append(statement)
        tries += 1
    return chosen


_GLUE = {
    "The",
    "i",
    "in",
    "the",
    "ha",
    "a",
    "called",
    "work",
    "open",
    "at",
    "co",
    "euro",
    "code",
    "of",
    "with",
    "on",
    "",
}


def make_passage(source: Source) -> Sample:
    longest = source.any((4, 4, 5, 6, 10, 24))
    statements = passage(source, source.integer(2, longest))
    text = " ".join(statement for statement, _, _ in statements)
    asked = source.random.sample(statements, min(len(statements), source.integer(1, 6)))
    in_system = source.chance(0.3)
    turns: list[Message] = [system(source.fill(SYSTEM_FRAMES, p=text))] if in_system else []
    answer = ""
    for position, (_, question, answer) in enumerate(asked):
        if position == 0 and not in_system:
            question = source.fill(FRAMES, p=text, q=question)
        turns += [user(question), assistant(answer)]
    absent = _absent(source, text) if source.chance(0.12) else None
    if absent:
        answer = MISSING
        turns += [user(absent[1]), assistant(answer)]
    return Sample("passage lookup", tuple(turns), Check("exact", answer))


def _absent(source: Source, text: str) -> Statement | None:
    """A statement none of whose words stands in the passage, if one is found soon."""
    present = {part.strip(".,'s") for part in text.split()} - _GLUE
    for _ in range(20):
        statement = source.any(STATEMENTS)(source)
        if not ({part.strip(".,'s") for part in statement[0].split()} - _GLUE) & present:
            return statement
    return None
