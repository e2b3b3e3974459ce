"""Questions about a passage in the prompt, one to four to the same passage."""

from collections.abc import Callable

from tools.tiny.text import words
from tools.tiny.text.loosening import strange, worded
from tools.tiny.text.passage_questions import ABOUT, CODE, COSTS, JOB, MEETING, OPENS, OTHERS, OWNER, WHERE
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

Statement = tuple[str, str, str]
"""A sentence of the passage, a question about it, and the answer."""


def _stated(source: Source, text: str, questions: tuple[str, ...], answer: str = "", **values: object) -> Statement:
    if source.varied and source.chance(0.2):
        asked = _by_key(source, list(map(str, values.values())))
    else:
        asked = worded(source, questions, **values)
    return text.format(**values), asked, (answer or text).format(**values)


def _by_key(source: Source, values: list[str]) -> str:
    """A question that fits any sentence, or is beyond understanding: which one is meant only a value in it tells.

    Where a wording is new, the model took another line, whatever the name or the day in the question.
    """
    key = source.any(values)
    return strange(source, key) if source.chance(0.5) else worded(source, ABOUT, key=key)


def _where(source: Source) -> Statement:
    return _stated(
        source,
        "The {adjective} {item} is in the {place}.",
        WHERE,
        "The {item} is in the {place}.",
        item=words.called(source, words.OBJECTS),
        place=words.called(source, words.PLACES),
        adjective=words.called(source, words.ADJECTIVES),
    )


def _owner(source: Source) -> Statement:
    return _stated(
        source,
        "{name} has a {animal} called {pet}.",
        OWNER,
        name=words.first_name(source),
        animal=words.called(source, words.ANIMALS),
        pet=words.first_name(source),
    )


def _job(source: Source) -> Statement:
    return _stated(
        source,
        "{name} works as a {job} in {city}.",
        JOB,
        name=words.first_name(source),
        job=words.called(source, words.JOBS),
        city=words.city(source),
    )


def _opens(source: Source) -> Statement:
    return _stated(
        source,
        "The {place} opens at {time}.",
        OPENS,
        place=words.called(source, words.PLACES),
        time=words.clock(source),
    )


def _costs(source: Source) -> Statement:
    return _stated(
        source,
        "The {item} costs {price} euros.",
        COSTS,
        item=words.called(source, words.FOODS),
        price=source.integer(1, 99),
    )


def _code(source: Source) -> Statement:
    return _stated(
        source,
        "The code of the {item} is {code}.",
        CODE,
        item=words.called(source, words.OBJECTS),
        code=words.identifier(source),
    )


def _meeting(source: Source) -> Statement:
    return _stated(
        source,
        "The {event} with {name} is on {day}.",
        MEETING,
        event=words.called(source, words.EVENTS),
        day=source.any(words.WEEKDAYS),
        name=words.first_name(source),
    )


_VALUES: dict[str, Callable[[Source], object]] = {
    "name": words.first_name,
    "item": words.thing,
    "food": lambda source: words.called(source, words.FOODS),
    "place": lambda source: words.called(source, words.PLACES),
    "city": words.city,
    "day": lambda source: source.any(words.WEEKDAYS),
    "time": words.clock,
    "code": words.identifier,
    "count": lambda source: source.integer(2, 999),
}


def _other(source: Source) -> Statement:
    """Of a kind that is trained on only, so that more is read than the kinds that are asked for."""
    text, *questions = source.any(OTHERS)
    named = {key: make(source) for key, make in _VALUES.items() if f"{{{key}}}" in text}
    return _stated(source, text, tuple(questions), "", **named)


STATEMENTS: tuple[Callable[[Source], Statement], ...] = (_where, _owner, _job, _opens, _costs, _code, _meeting)
TRAINED_STATEMENTS = (*STATEMENTS, *STATEMENTS, _other, _other, _other, _other)
FRAMES = phrases("""{p}\n\n{q} | Passage: {p}\nQuestion: {q} | Text: {p}\n{q} | Read this: {p}\n{q} |
{q}\n\n{p} | Answer from the passage.\n{p}\n{q} | Context: {p}\n\nQuestion: {q} | Use this text: {p}\n\n{q} |
Here is a text. {p} {q} | Notes: {p}\n{q} | Document:\n{p}\n\n{q} | Given: {p}\nAnswer: {q} |
Look at this: {p}\n{q} | In this text: {p}\n{q} | {p} {q} | Text:\n{p}\nQuestion:\n{q} | I read this: {p}\n\n{q} |
Please read. {p}\n{q} | {p}\nNow tell me. {q} | From these facts: {p}\n{q} | Facts:\n{p}\n{q} |
It says here: {p} {q} | My notes say this. {p}\n\n{q} | Information: {p}\nQ: {q} | {p}\nQuestion: {q} |
Source: {p}\n\n{q} | The text: {p}\nMy question: {q} | Consider: {p}\n{q} |
Read this text and answer.\n{p}\n{q} | Read the text and answer the question.\n\n{p}\n\n{q} |
Read the passage and answer the question.\n{p}\n{q} | Read the following.\n\n{p}\n\n{q} | Read what I wrote: {p}\n{q} |
Please read this and answer: {q}\n{p} | Answer this question: {q}\nUse this text: {p} |
Answer my question: {q}\nHere is the text: {p} | Answer the question with the text.\nText: {p}\nQuestion: {q} |
Answer from the text: {q}\nText: {p} | Answer from these notes: {p}\n\n{q} | Question: {q}\nText: {p} |
Question: {q}\nPassage: {p} | Question: {q}\n\nContext: {p} | My question: {q}\nMy notes: {p} | Q: {q}\nText: {p} |
Q: {q}\n\n{p} | {q} Text: {p} | {q}\nHere is the text: {p} | {q}\nHere are my notes: {p} | {q}\nUse these facts: {p} |
{q}\nThis is what I know: {p} | {q} Look here: {p} | {q}\nContext: {p} | Here is what I know: {p}\n{q} |
Here is some information. {p}\n\n{q} | Here are some facts. {p}\n{q} | Here are my notes. {p} My question: {q} |
Here is a passage:\n{p}\n\nHere is the question:\n{q} | This is the text: {p}\nThis is the question: {q} |
This is what I wrote down: {p}\n{q} | I wrote this down: {p} {q} | I wrote some notes: {p}\n\n{q} |
I have this text: {p}\nI have a question: {q} | I have some information: {p} {q} | I found this text: {p}\n\n{q} |
I found these notes. {p}\n{q} | I got this message: {p} {q} | I got a letter. It says: {p}\n{q} |
My friend wrote this: {p}\n\n{q} | A friend told me this. {p} {q} | They told me this: {p}\n{q} |
I was told: {p}\n\nSo, {q} | You know this: {p}\n{q} | We know this: {p} {q} | It is known: {p}\n{q} |
Use the passage to answer.\n{p}\n\n{q} | Use only this passage: {p}\n{q} |
With this text, answer the question.\n{p}\n{q} | With this information: {p}\n{q} | Context: {p} Question: {q} Answer: |
Context:\n{p}\n\nQ: {q}\nA: | Passage:\n{p}\n\nQ: {q} | Document: {p}\nQuestion: {q} | Article: {p}\n\n{q} |
Message: {p}\n{q} | Letter:\n{p}\n\n{q} | "{p}"\n{q} | Text: "{p}"\nQuestion: "{q}" | <text>\n{p}\n</text>\n{q} |
{p}\n---\n{q} | {p}\n\nFrom this text: {q} | {p}\n\nAfter reading this: {q} | {p}\nThat is the text. {q} |
{p} That is all I know. {q} | {p}\n\nWith that in mind: {q} | {p}\nCan you answer this? {q} | {p} So, {q} |
{p}\n\nMy question is: {q}""")
SYSTEM_FRAMES = phrases("""Answer from this text: {p} | Passage: {p} | You know this: {p} | Context:\n{p} |
{p} | Use only this text.\n{p} | Facts: {p} | Read the text and answer questions. {p} |
Answer questions about this text. {p} | Text: {p} | Document:\n{p} | Here is what you know: {p} |
Use these notes: {p} | Notes:\n{p} | You have this information: {p} | Knowledge: {p} | Answer with this: {p} |
You are a helpful assistant. {p} | All you know is this: {p} | The facts are these. {p} |
Answer the user from this text: {p} | Answer the questions of the user. Text: {p} |
Answer only from this passage: {p} | Answer from the notes below.\n\n{p} | Answer questions with these facts: {p} |
Answer with the help of this document.\n{p} | You answer questions about this text: {p} |
You answer questions about a passage.\n\n{p} | You answer from these notes: {p} | You have read this: {p} |
You have read this text: {p} | You have these facts: {p} | You know the following. {p} | You know these facts: {p} |
You know only this: {p} | You are an assistant who knows this: {p} | You are an assistant. Context: {p} |
You are a helpful assistant. Use this text to answer: {p} | You are a helpful assistant.\n\nContext:\n{p} |
You are a helpful assistant. Here is some information: {p} | The user asks about this text: {p} |
The user has questions about this passage: {p} | The user wrote these notes: {p} |
Here is the text for all questions: {p} | Here is the context: {p} | Here are the facts: {p} |
Here are the notes of the user: {p} | This is the document: {p} | This is the text you know: {p} |
This is all the information you have. {p} | Use the following context.\n\n{p} | Use the text to answer questions. {p} |
Use this information: {p} | Read this: {p} | Read this passage and help the user.\n{p} |
Help the user with this information: {p} | Background: {p} | Background information:\n{p} | Information: {p} |
Known facts:\n{p} | Reference text: {p} | Remember this text: {p} | Keep this in mind: {p} |
<context>\n{p}\n</context>""")
MISSING = "The text does not say."


def _statement(source: Source) -> Statement:
    return source.any(TRAINED_STATEMENTS if source.varied else STATEMENTS)(source)


def passage(source: Source, count: int) -> list[Statement]:
    """Statements about different things: no first question fits two of them."""
    chosen: list[Statement] = []
    seen: set[str] = set()
    tries = 0
    while len(chosen) < count and tries < 8 * count:
        statement = _statement(source)
        parts = {part.strip(".,'s") for part in statement[0].split()} - _GLUE
        if not parts & seen:
            seen |= parts
            chosen.append(statement)
        tries += 1
    return chosen


_GLUE = {
    *("The", "i", "in", "the", "ha", "a", "called", "work", "open", "at", "co", "euro", "code", "of", "with", "on", ""),
    *("live", "like", "bring", "leave", "weigh", "gram", "belong", "to", "train", "number", "born", "wa", "for", "by"),
    *("Page", "page", "come", "from", "book", "about", "u", "close", "meet"),
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
        statement = _statement(source)
        if not ({part.strip(".,'s") for part in statement[0].split()} - _GLUE) & present:
            return statement
    return None
