"""Named fields out of a sentence into JSON, by a list of keys or by a JSON Schema."""

import json
from collections.abc import Callable
from typing import Any

from tools.tiny.text import words
from tools.tiny.text.loosening import loosened, worded
from tools.tiny.text.sample import Check, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

Drawn = tuple[Any, str]

FIELDS: dict[str, tuple[str, Callable[[Source], Drawn]]] = {}


def _field(key: str, kind: str, make: Callable[[Source], Any], *phrases: str) -> None:
    def draw(source: Source) -> Drawn:
        value = make(source)
        return value, source.any(phrases).format(value)

    FIELDS[key] = (kind, draw)


_field("age", "integer", lambda s: s.integer(5, 99), "is {} years old", "is {}", "has age {}", "turned {}")
_field("city", "string", words.city, "lives in {}", "comes from {}", "is from {}", "works in {}", "moved to {}")
_field("job", "string", lambda s: words.listed(s, words.JOBS), "works as a {}", "is a {}", "earns money as a {}")
_field("email", "string", words.email, "has the email {}", "writes from {}", "can be reached at {}")
_field("phone", "string", lambda s: str(s.integer(100000, 999999)), "has the number {}", "can be called at {}")
_field("pet", "string", lambda s: words.listed(s, words.ANIMALS), "has a {}", "owns a {}", "keeps a {}")
_field("colour", "string", lambda s: words.listed(s, words.COLOURS), "likes {}", "wears {}", "prefers {}")
_field("food", "string", lambda s: words.listed(s, words.FOODS), "eats {}", "likes to eat {}", "orders {}")
_field("company", "string", lambda s: words.syllables(s).capitalize(), "works for {}", "founded {}", "joined {}")
_field("order", "string", words.identifier, "placed order {}", "asks about order {}", "has order {}")
_field("room", "string", words.identifier, "is in room {}", "stays in room {}", "sits in room {}")
_field("date", "string", words.date, "arrives on {}", "was born on {}", "called on {}")
_field("price", "integer", lambda s: s.integer(1, 999), "pays {}", "spent {}", "owes {} euros")
_field("children", "integer", lambda s: s.integer(0, 9), "has {} children", "has {} kids")

ASKS = phrases("""Extract {k} as JSON: {t} | Extract the fields {k} as JSON.\n{t} |
Give me {k} as JSON: {t} | {t}\nReturn {k} as JSON. | Read this and return JSON with {k}: {t} |
Turn this into JSON with the keys {k}: {t} | JSON with {k} from: {t} | {t}\nExtract {k}. Answer with JSON. |
Text: {t}\nJSON keys: {k} | Find {k} in this text and write JSON: {t} |
From the text, extract {k}. Use JSON.\n{t} | Please extract {k} into JSON: {t} |
Fill a JSON object with {k}.\n{t} | {t} Give {k} as a JSON object. |
Make JSON with {k} out of this: {t} | {t}\nWrite {k} as JSON. | I need {k} as JSON from: {t} |
Get {k} out of this text as JSON: {t} | Which {k}? Answer in JSON. {t} | Parse this into JSON ({k}): {t} |
JSON object with {k}, please: {t} | {t}\nJSON with {k}, please. | Convert to JSON with the fields {k}: {t} |
Collect {k} as JSON. {t} | Put {k} into JSON: {t} | Output JSON with {k} for this: {t} |
{t}\n\nKeys: {k}. Format: JSON | Show {k} as JSON: {t} | {t} As JSON: {k} | Take {k} from this and write JSON.\n{t} |
As JSON please, {k}: {t} | Information: {t}\nI want {k} in JSON. | Pull out {k} as JSON from this: {t}""")
SCHEMA_ASKS = phrases("""Extract the data as JSON by this schema: {j}\n{t} |
{t}\nFill this JSON Schema: {j} | Schema: {j}\nText: {t} | Answer with JSON that fits {j}.\n{t} |
{t}\nReturn JSON for the schema {j} | Use the schema {j} to extract data: {t} |
Read: {t}\nWrite JSON matching {j} | JSON Schema: {j}\nExtract from: {t} |
{j}\nFill this from the text: {t} | Follow this JSON Schema: {j}\n{t} | {t}\nAnswer by the schema {j} |
JSON for {j}, please.\n{t} | Extract to {j}: {t} | Text: {t}\nSchema: {j} | {t}\nOutput JSON for this schema: {j} |
Here is a schema: {j} Here is a text: {t} | Make JSON that fits the schema {j} from: {t} | Schema:\n{j}\nInput:\n{t} |
Given the schema {j}, read: {t} | Respond with JSON as in {j}.\n{t} | Format: {j}\n{t}""")
AGAIN = phrases("""Now {k}. | Now {k} as JSON. | And {k}? | Only {k}, please. | Give me {k}. | Also {k}. |
Again with {k}. | JSON with {k}. |
Next {k}. | I need {k}. | {k}, please. | What about {k}? | And now {k}? | Same with {k}. | Just {k}. | Then {k}. |
Can I have {k}? | Show {k}. | Extract {k}. | This time {k}. | Again, but {k}. | Only {k} now. | Please give {k}.""")
SYSTEMS = phrases("""Answer with JSON only. | You extract data as JSON. | Return JSON only. |
You are a JSON extractor. | Only output JSON. | You turn text into JSON. | Reply with a JSON object. |
Output valid JSON. |
You write JSON. | JSON only. | Your answers are JSON. | You answer in JSON. | No text, only JSON. |
You fill in JSON. | Extract data. | You are a helpful assistant that writes JSON. | Respond with JSON. |
You read texts and write JSON.""")


def _sentences(source: Source, name: str, phrases: list[str]) -> str:
    """`Anna is 31 years old and lives in Rome. Anna has a cat.`"""
    if not phrases:
        return f"This is {name}."
    source.random.shuffle(phrases)
    cut = source.integer(1, len(phrases))
    second = source.any((name, "This person", name))
    text = f"{name} {words.joined(phrases[:cut])}."
    return text + (f" {second} {words.joined(phrases[cut:])}." if phrases[cut:] else "")


def person(source: Source, count: int) -> tuple[str, dict[str, Any]]:
    """A short text about someone and the values in it, `name` first."""
    name = words.full_name(source) if source.chance(0.4) else words.first_name(source)
    values: dict[str, Any] = {"name": name}
    phrases: list[str] = []
    for key in source.random.sample(sorted(FIELDS), count):
        values[key], phrase = FIELDS[key][1](source)
        phrases.append(phrase)
    return _sentences(source, name, phrases), values


def _schema(keys: list[str]) -> str:
    properties = {key: {"type": FIELDS[key][0] if key in FIELDS else "string"} for key in keys}
    return json.dumps({"type": "object", "properties": properties, "required": keys})


def _question(source: Source, text: str, keys: list[str]) -> str:
    if source.chance(0.3):
        return loosened(source, source.one(SCHEMA_ASKS)).replace("{t}", text).replace("{j}", _schema(keys))
    return worded(source, ASKS, k=_listed(source, keys), t=text)


def _listed(source: Source, keys: list[str]) -> str:
    return source.any((words.joined(keys), ", ".join(keys)))


def make_extraction(source: Source) -> Sample:
    """One to three questions for fields of the same text."""
    text, values = person(source, source.integer(1, 4))
    turns = [system(source.one(SYSTEMS))] if source.chance(0.35) else []
    expected: dict[str, Any] = {}
    for position in range(source.any((1, 1, 2, 3))):
        keys = source.random.sample(sorted(values), source.integer(1, len(values)))
        expected = {key: values[key] for key in keys}
        question = _question(source, text, keys) if position == 0 else worded(source, AGAIN, k=_listed(source, keys))
        turns += [user(question), assistant(json.dumps(expected, ensure_ascii=False))]
    return Sample("JSON extraction", tuple(turns), Check("json", expected))
