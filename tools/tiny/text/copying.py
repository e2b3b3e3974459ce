"""Repeat, quote, pick out: the exercise from which exact copying is learned."""

from tools.tiny.text import words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

REPEAT = phrases("""Repeat: {x} | Repeat this: {x} | Say {x} | Say this: {x} | Copy: {x} | Echo {x} |
Please repeat {x} | Write this back to me: {x} | Repeat after me: {x} | Please say: {x} | Type {x} |
Print: {x} | Just write {x} | Can you repeat this? {x} | Answer with exactly this: {x} | Output {x} |
Reply with: {x} | Say exactly: {x} | Please echo: {x} | Return this text: {x}""")
SPELL = phrases("""Spell {x}. | How do you spell {x}? | Spell the word {x}. | Please spell {x}. |
Spell out {x}. | Can you spell {x}? | Give me the letters of {x}. | What letters are in {x}?""")
KEYED = phrases("""What is {k}? | Give me {k}. | {k}? | And {k}? | Tell me {k}. | Value of {k}? |
Look up {k}. | What value has {k}? | Which value belongs to {k}? | Please read {k}. |
What does {k} say? | What is stored under {k}? | The value of {k}, please. | Find {k}. | What stands next to {k}? |
I need {k}. | Say {k} for me. | What about {k}? | Show {k}. | Now {k}. | Which one is {k}? | What is at {k}? |
Entry of {k}? | Get {k}.""")
TABLES = phrases("""Remember:\n{t}\n | Here is a list:\n{t}\n | Notes:\n{t}\n | {t}\n | Data:\n{t}\n |
Values:\n{t}\n""")


def _piece(source: Source) -> str:
    return source.any(
        (words.fragments, words.syllables, words.identifier, words.phrase, words.full_name, words.city, words.email)
    )(source)


def _text(source: Source) -> str:
    return " ".join(_piece(source) for _ in range(source.integer(1, 3)))


def _repeat(source: Source) -> tuple[str, str]:
    text = _text(source)
    return worded(source, REPEAT, x=text), text


def _spell(source: Source) -> tuple[str, str]:
    word = words.made_up(source) if source.chance(0.5) else source.one(words.COMMON)
    return worded(source, SPELL, x=word), "-".join(word)


def make_copying(source: Source) -> Sample:
    """One to five strings to give back."""
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 5)):
        question, answer = (_spell if source.chance(0.1) else _repeat)(source)
        turns += [user(question), assistant(answer)]
    return Sample("copying", tuple(turns), Check("exact", answer))


def make_keyed(source: Source) -> Sample:
    """A table of keys and values, then a few look-ups."""
    makers = (words.fragments, words.syllables, words.identifier, words.first_name, words.city)
    key_of, value_of = source.any(makers), source.any((*makers, words.phrase))
    table = {key_of(source): value_of(source) for _ in range(source.integer(2, 7))}
    mark = source.any((": ", " = ", " -> ", " is "))
    asked = source.random.sample(sorted(table), min(len(table), source.integer(1, 4)))
    text = "\n".join(f"{key}{mark}{value}" for key, value in table.items())
    turns: list[Message] = []
    for position, key in enumerate(asked):
        intro = worded(source, TABLES, t=text) if position == 0 else ""
        turns += [user(intro + worded(source, KEYED, k=key)), assistant(table[key])]
    return Sample("copying", tuple(turns), Check("exact", table[asked[-1]]))
