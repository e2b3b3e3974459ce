"""Questions about a passage in the prompt, one to four to the same passage."""

from collections.abc import Callable

from tools.tiny.text import words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

Statement = tuple[str, str, str]
"""A sentence of the passage, a question about it, and the answer."""

WHERE = phrases("""Where is the {item}? | In which place is the {item}? | Where can I find the {item}? |
In which room is the {item}? | Where is the {adjective} {item}? | Tell me where the {item} is. |
I need the {item}. Where is it? |
Where do I find the {item}? | Which place has the {item}? | Where did they put the {item}? |
Where is the {item} kept? | In what room is the {item}? | The {item}, where is it? | Find the {item}. |
I am looking for the {item}. | Who knows where the {item} is? | The place of the {item}? |
Where should I look for the {item}? | Location of the {item}? | Where is that {adjective} {item}? |
I lost the {item}. | Where can the {item} be?""")
OWNER = phrases("""What is the name of {name}'s {animal}? | How is the {animal} of {name} called? |
What animal does {name} have? | Which pet has {name}? | Who is {pet}? | What does {name} own? |
Tell me about the pet of {name}. |
Does {name} have a pet? | What pet does {name} have? | Who has a {animal} called {pet}? | Name the pet of {name}. |
What do you know about {pet}? | {name} has which animal? | The {animal} of {name} has which name? | What is {pet}? |
Whose {animal} is {pet}? | Which name has the {animal} of {name}? | The name of the {animal}? | Who owns {pet}? |
Is there a {animal} called {pet}?""")
JOB = phrases("""What is {name}'s job? | What does {name} do? | Where does {name} work? |
In which city does {name} work? | As what does {name} work? | Tell me the job of {name}. |
What work does {name} do? |
What is the job of {name}? | Which job has {name}? | How does {name} earn money? | What is the profession of {name}? |
{name} works as what? | Where is {name} employed? | In what city is {name} a {job}? | Who works in {city}? |
What about the work of {name}? | Name the job of {name}. | Who is a {job}? | The job of {name}? |
Which profession has {name}? | Who is {name}?""")
OPENS = phrases("""When does the {place} open? | At what time does the {place} open? |
What time does the {place} open? | Opening time of the {place}? | When can I enter the {place}? |
When is the {place} open? | Tell me when the {place} opens. |
When can people go to the {place}? | From what time is the {place} open? | When will the {place} open? |
The {place} opens when? | Opening hours of the {place}? | How early does the {place} open? |
When do they open the {place}? | What is the opening time of the {place}? |
I want to go to the {place}. When does it open? | At which hour does the {place} open? |
When does the {place} start? | The {place}, from when?""")
COSTS = phrases("""How much is the {item}? | What does the {item} cost? | What is the price of the {item}? |
How expensive is the {item}? | Price of the {item}? | How many euros for the {item}? |
Tell me the price of the {item}. |
How much does the {item} cost? | What do I pay for the {item}? | How much do I pay for the {item}? |
What must I pay for the {item}? | The {item} costs what? | Which price has the {item}? |
How many euros is the {item}? | I want to buy the {item}. What does it cost? | Cost of the {item}? |
The price of the {item}? | Is the {item} expensive? | Say the price of the {item}. |
How many euros does the {item} cost?""")
CODE = phrases("""What is the code of the {item}? | Code of the {item}? | Which code has the {item}? |
Tell me the code of the {item}. | Give me the {item} code. | How do I open the {item}? |
I forgot the code of the {item}. |
Which code opens the {item}? | The {item} has which code? | What code do I need for the {item}? |
With which code does the {item} open? | I need the code of the {item}. | The code of the {item}, please. |
Say the code of the {item}. | What is the {item} code? | How can I open the {item}? |
Do you have the code of the {item}? | Read me the code of the {item}. | Which code is for the {item}? |
The {item} is locked. What is the code?""")
MEETING = phrases("""When is the {event}? | On which day is the {event}? | When is the {event} with {name}? |
Who comes to the {event}? | What is on {day}? | With whom is the {event}? | Which day is the {event}? |
What day is the {event}? | The {event} is on which day? | Who is at the {event}? | When do I meet {name}? |
When does the {event} take place? | When is {name} there? | The day of the {event}? | What happens on {day}? |
Who is with me at the {event}? | On what day do I see {name}? | What is planned with {name}? | Day of the {event}? |
When will the {event} be? | Is there a {event} with {name}?""")


def _stated(source: Source, text: str, questions: tuple[str, ...], answer: str = "", **values: object) -> Statement:
    return text.format(**values), worded(source, questions, **values), (answer or text).format(**values)


def _where(source: Source) -> Statement:
    return _stated(
        source,
        "The {adjective} {item} is in the {place}.",
        WHERE,
        "The {item} is in the {place}.",
        item=words.listed(source, words.OBJECTS),
        place=words.listed(source, words.PLACES),
        adjective=words.listed(source, words.ADJECTIVES),
    )


def _owner(source: Source) -> Statement:
    return _stated(
        source,
        "{name} has a {animal} called {pet}.",
        OWNER,
        name=words.first_name(source),
        animal=words.listed(source, words.ANIMALS),
        pet=words.first_name(source),
    )


def _job(source: Source) -> Statement:
    return _stated(
        source,
        "{name} works as a {job} in {city}.",
        JOB,
        name=words.first_name(source),
        job=words.listed(source, words.JOBS),
        city=words.city(source),
    )


def _opens(source: Source) -> Statement:
    return _stated(
        source,
        "The {place} opens at {time}.",
        OPENS,
        place=words.listed(source, words.PLACES),
        time=words.clock(source),
    )


def _costs(source: Source) -> Statement:
    return _stated(
        source,
        "The {item} costs {price} euros.",
        COSTS,
        item=words.listed(source, words.FOODS),
        price=source.integer(1, 99),
    )


def _code(source: Source) -> Statement:
    return _stated(
        source,
        "The code of the {item} is {code}.",
        CODE,
        item=words.listed(source, words.OBJECTS),
        code=words.identifier(source),
    )


def _meeting(source: Source) -> Statement:
    return _stated(
        source,
        "The {event} with {name} is on {day}.",
        MEETING,
        event=words.listed(source, words.EVENTS),
        day=source.any(words.WEEKDAYS),
        name=words.first_name(source),
    )


STATEMENTS: tuple[Callable[[Source], Statement], ...] = (_where, _owner, _job, _opens, _costs, _code, _meeting)
FRAMES = phrases("""{p}\n\n{q} | Passage: {p}\nQuestion: {q} | Text: {p}\n{q} | Read this: {p}\n{q} |
{q}\n\n{p} | Answer from the passage.\n{p}\n{q} | Context: {p}\n\nQuestion: {q} | Use this text: {p}\n\n{q} |
Here is a text. {p} {q} | Notes: {p}\n{q} | Document:\n{p}\n\n{q} | Given: {p}\nAnswer: {q} |
Look at this: {p}\n{q} | In this text: {p}\n{q} | {p} {q} | Text:\n{p}\nQuestion:\n{q} | I read this: {p}\n\n{q} |
Please read. {p}\n{q} | {p}\nNow tell me. {q} | From these facts: {p}\n{q} | Facts:\n{p}\n{q} |
It says here: {p} {q} | My notes say this. {p}\n\n{q} | Information: {p}\nQ: {q} | {p}\nQuestion: {q} |
Source: {p}\n\n{q} | The text: {p}\nMy question: {q} | Consider: {p}\n{q}""")
SYSTEM_FRAMES = phrases("""Answer from this text: {p} | Passage: {p} | You know this: {p} | Context:\n{p} |
{p} | Use only this text.\n{p} | Facts: {p} | Read the text and answer questions. {p} |
Answer questions about this text. {p} | Text: {p} | Document:\n{p} | Here is what you know: {p} |
Use these notes: {p} | Notes:\n{p} | You have this information: {p} | Knowledge: {p} | Answer with this: {p} |
You are a helpful assistant. {p} | All you know is this: {p} | The facts are these. {p}""")
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
    turns: list[Message] = [system(worded(source, SYSTEM_FRAMES, p=text))] if in_system else []
    answer = ""
    for position, (_, question, answer) in enumerate(asked):
        if position == 0 and not in_system:
            question = worded(source, FRAMES, p=text, q=question)
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
