"""Lists: repeat, reverse, sort, count, pick, continue."""

from tools.tiny.text import words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

ORDINALS = ("first", "second", "third", "fourth", "fifth")
REPEAT = phrases("""Repeat the list: {l} | Repeat this list: {l} | Say the list again: {l} |
Copy the list {l} | Echo the list {l} | Write the list {l} | Give the list back: {l} | List again: {l} |
Say the list: {l} | Once more: {l} | The same list: {l} | Read out the list: {l} | List it again: {l} |
Return the list: {l} | Recite {l} | Print the list {l}""")
REVERSE = phrases("""Reverse the list: {l} | Reverse this: {l} | Write it backwards: {l} |
Turn the list around: {l} | List in reverse order: {l} | Say backwards: {l} | Reverse {l} |
Put in the opposite order: {l} |
Backwards: {l} | From last to first: {l} | Read it backwards: {l} | Flip the list: {l} | Reversed: {l} |
The other way round: {l} | Invert the order: {l} | Start with the last: {l} | List backwards: {l} | Turn around: {l} |
Give the reverse of {l}""")
PICK = phrases("""What is the {o} item of {l}? | {o} item: {l} | Give me the {o} item of the list {l} |
Which is the {o} word? {l} | Take the {o} of these: {l} | Name the {o} one: {l} | The {o} item in {l}? |
From {l} pick the {o}. |
What is the {o} one? {l} | The {o} of these, please: {l} | {o} of {l}? | Choose the {o} item: {l} |
Tell me the {o} item of {l} | In {l}, which is the {o}? | Item number: {o}. List: {l} | Say the {o} word of {l} |
Which item is {o}? {l} | I want the {o} one of {l} | Get the {o} item from {l}""")
COUNT = phrases("""How many items are in this list? {l} | Count the items: {l} | How long is the list {l}? |
Number of items: {l} | Count: {l} | How many words are these? {l} | How many things? {l} |
Tell me how many items: {l} |
How many are there? {l} | How many entries are here? {l} | What is the number of items? {l} |
Length of the list: {l} | How many do you see? {l} | Count these: {l} | How many items are there in {l}? |
Size of this list: {l} | Say how many: {l} | List length? {l}""")
CONTINUE = phrases("""Continue: {l} | What comes next? {l} | Next number: {l} | Go on: {l} |
Continue the series {l} | Which number follows? {l} | Complete: {l} | What is the next number? {l} |
Add the next number: {l} | And then? {l} | Next: {l} | Which one is next? {l} | What follows? {l} | Go on with {l} |
Extend the series: {l} | {l}, and then? | {l}, ... | The series goes {l}. What is next? | Find the next number: {l}""")


NAME_SOME = phrases("""List {n} {k}. | Name {n} {k}. | Give me {n} {k}. | Tell me {n} {k}. | {n} {k}, please. |
Write a list of {n} {k}. | Can you name {n} {k}? | I need {n} {k}. |
Which {n} {k} do you know? | Say {n} {k}. | Write {n} {k}. | Do you know {n} {k}? | Show me {n} {k}. | Any {n} {k}? |
Please list {n} {k}. | Think of {n} {k}. | Pick {n} {k}.""")
KINDS = (
    ("colours", words.COLOURS),
    ("animals", words.ANIMALS),
    ("foods", words.FOODS),
    ("cities", words.CITIES),
    ("jobs", words.JOBS),
    ("names", words.NAMES),
    ("days", words.WEEKDAYS),
    ("months", words.MONTHS),
)
NUMBERS = ("two", "three", "four", "five")


def _name_some(source: Source) -> tuple[str, str]:
    """The first few of a kind, always the same ones."""
    kind, items = source.any(KINDS)
    count = source.integer(2, 5)
    number = str(count) if source.chance(0.3) else NUMBERS[count - 2]
    return worded(source, NAME_SOME, n=number, k=kind), ", ".join(items[:count])


def _round(source: Source) -> tuple[str, str]:
    if source.chance(0.12):
        return _name_some(source)
    pool = source.any((words.ANIMALS, words.FOODS, words.COLOURS, words.OBJECTS, words.NAMES, words.CITIES))
    items = source.some(pool, source.integer(2, 6))
    if source.chance(words.MADE_UP_PART):
        items[source.integer(0, len(items) - 1)] = words.made_up(source)
    text = ", ".join(items)
    kind = source.integer(0, 5)
    if kind == 0:
        return worded(source, REPEAT, l=text), text
    if kind <= 2:
        return worded(source, REVERSE, l=text), ", ".join(reversed(items))
    if kind == 3:
        index = source.integer(0, min(len(items), len(ORDINALS)) - 1)
        ordinal, item = (ORDINALS[index], items[index]) if source.chance(0.7) else ("last", items[-1])
        return worded(source, PICK, o=ordinal, l=text), item
    if kind == 4:
        return worded(source, COUNT, l=text), str(len(items))
    start, step = source.integer(0, 50), source.any((1, 1, 2, 2, 5, 10))
    series = [start + step * position for position in range(5)]
    return worded(source, CONTINUE, l=", ".join(map(str, series[:4]))), str(series[4])


def make_lists(source: Source) -> Sample:
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 6)):
        question, answer = _round(source)
        turns += [user(question), assistant(answer)]
    return Sample("lists", tuple(turns), Check("exact", answer))
