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
As JSON please, {k}: {t} | Information: {t}\nI want {k} in JSON. | Pull out {k} as JSON from this: {t} |
get {k} as json from this: {t} | {k} as JSON: {t} | {k} from this text, as JSON: {t} | {k} in JSON format.\n{t} |
JSON ({k}): {t} | JSON, keys {k}: {t} | JSON keys: {k}\nText: {t} | JSON please: {k}\n{t} |
JSON from this text: {t}\nKeys: {k} | A JSON object with {k}: {t} | A JSON object with the keys {k}, please.\n{t} |
Keys: {k}\nText: {t}\nJSON: | Fields: {k}\nText: {t}\nJSON: | Fields: {k}\n\n{t}\n\nAnswer in JSON. |
Text: {t}\nFields: {k}\nWrite JSON. | Text: {t}\nExtract as JSON: {k} | Text: {t}\nGive me {k} as JSON. |
Input: {t}\nOutput: JSON with {k} | Extract {k}: {t}\nUse JSON. | Extract {k} from the text as JSON: {t} |
Extract {k} from this message as a JSON object.\n{t} | Extract the following as JSON: {k}\n{t} |
Extract the keys {k} into a JSON object: {t} | Extract only {k}, as JSON.\n{t} | Extract JSON with {k} from this: {t} |
Find the fields {k} and answer in JSON: {t} | Find {k} and return a JSON object.\n{t} |
Find out {k} and write them as JSON: {t} | Read the text and give me {k} as JSON.\n{t} |
Read the text and write a JSON object with {k}: {t} | Read the message and fill in {k} as JSON: {t} |
Fill in the JSON fields {k} from this text: {t} | Fill the keys {k} and return the JSON.\n{t} |
Fill the JSON keys {k}: {t} | Return JSON with {k}: {t} | Return a JSON object with the fields {k}.\n{t} |
Return only {k} as JSON: {t} | Return the values of {k} as JSON.\n{t} | Write JSON with the fields {k}: {t} |
Write a JSON object with {k} for this text.\n{t} | Write {k} from this text as JSON: {t} |
Give me JSON with {k}.\n{t} | Give me a JSON object with {k} from this text: {t} |
Give me the fields {k} as JSON.\n{t} | Give the values of {k} in JSON: {t} | Make a JSON object with {k}: {t} |
Make JSON of this text. Keys: {k}\n{t} | Make JSON from this message with the fields {k}: {t} |
Turn this text into JSON with {k}.\n{t} | Turn the message into a JSON object with {k}: {t} |
Convert this into JSON with {k}: {t} | Convert the text to a JSON object. Fields: {k}\n{t} |
Convert this message to JSON, keys {k}.\n{t} | Parse {k} from this text and answer in JSON: {t} |
Parse the text and return {k} as JSON.\n{t} | Parse this message into JSON with the fields {k}: {t} |
Put the values of {k} into JSON: {t} | Put {k} from this text into a JSON object.\n{t} |
Take {k} out of the text and return JSON: {t} | Take the fields {k} from this message as JSON.\n{t} |
Pull {k} out of this text as JSON: {t} | Pull the values of {k} from this into JSON.\n{t} |
Collect {k} from this text in a JSON object: {t} | Collect the fields {k} in JSON.\n{t} | Output {k} as JSON: {t} |
Output a JSON object with the keys {k}.\n{t} | Show me {k} in JSON: {t} |
Show me a JSON object with {k} for this text: {t} | Answer in JSON with {k}: {t} |
Answer with a JSON object with the keys {k}.\n{t} | Answer as JSON. Which {k}?\n{t} |
Can you give me JSON with {k} from this? {t} | Can you turn this into JSON with {k}? {t} |
Can you find {k} in this text? Answer in JSON.\n{t} | Could you write {k} as JSON? {t} |
Could you pull out {k} as a JSON object? {t} | I need {k} in JSON.\n{t} |
I need a JSON object with {k} from this text.\n{t} | I need JSON with the fields {k} from this: {t} |
I want JSON with {k} from this text: {t} | I want {k} as a JSON object: {t} | I would like {k} in JSON format: {t} |
I have this text: {t}\nI need {k} as JSON. | I have a message: {t}\nExtract {k} as JSON. |
I got this message: {t}\nGive me {k} in JSON. | This is the text: {t}\nReturn {k} as JSON. |
Here is a text: {t}\nI need JSON with {k}. | Here is a message.\n{t}\nTurn it into JSON with {k}. |
From this, extract {k} in JSON: {t} | From this message, get {k} as JSON.\n{t} |
From the text, make JSON with {k}: {t} | From the following text, give {k} as JSON.\n\n{t} |
What are {k}? Answer in JSON.\n{t} | What are the values of {k} here? Write JSON. {t} |
What does this say about {k}? Use JSON.\n{t} | Which values have {k}? JSON, please. {t} |
As JSON with the keys {k}: {t} | As a JSON object with {k}, please: {t} | In JSON, with {k}: {t} |
In JSON format, give me {k}.\n{t} | {t}\nExtract {k} as JSON. | {t}\nExtract the fields {k} in JSON format. |
{t}\nGive me {k} as JSON. | {t}\nGive me a JSON object with {k}. | {t}\nGet {k} from this as JSON. |
{t}\nFind {k} and write JSON. | {t}\nFill in {k} as JSON. | {t}\nTurn this into JSON with {k}. |
{t}\nConvert this to JSON. Fields: {k} | {t}\nParse {k} as JSON. | {t}\nPut {k} into JSON. | {t}\nMake JSON with {k}. |
{t}\nI need {k} as JSON. | {t}\nI want a JSON object with {k}. | {t}\nCan you extract {k} as JSON? |
{t}\nCan you give me {k} in JSON? | {t}\nAnswer in JSON with the keys {k}. | {t}\nJSON: {k} | {t}\n\n{k} as JSON |
{t}\n\nJSON object with the fields {k}: | {t}\n\nFields to extract: {k}. Answer with JSON. |
{t} Return a JSON object with {k}. | "{t}"\nExtract {k} as JSON. | "{t}"\nJSON with {k}, please. |
Text: "{t}"\nJSON with {k}: | <text>\n{t}\n</text>\nReturn {k} as JSON.""")
SCHEMA_ASKS = phrases("""Extract the data as JSON by this schema: {j}\n{t} |
{t}\nFill this JSON Schema: {j} | Schema: {j}\nText: {t} | Answer with JSON that fits {j}.\n{t} |
{t}\nReturn JSON for the schema {j} | Use the schema {j} to extract data: {t} |
Read: {t}\nWrite JSON matching {j} | JSON Schema: {j}\nExtract from: {t} |
{j}\nFill this from the text: {t} | Follow this JSON Schema: {j}\n{t} | {t}\nAnswer by the schema {j} |
JSON for {j}, please.\n{t} | Extract to {j}: {t} | Text: {t}\nSchema: {j} | {t}\nOutput JSON for this schema: {j} |
Here is a schema: {j} Here is a text: {t} | Make JSON that fits the schema {j} from: {t} | Schema:\n{j}\nInput:\n{t} |
Given the schema {j}, read: {t} | Respond with JSON as in {j}.\n{t} | Format: {j}\n{t} |
Extract JSON by this schema: {j}\n{t} | Extract JSON that fits the schema.\nSchema: {j}\nText: {t} |
Extract the data from this text: {t}\nSchema: {j} | Extract the data as JSON.\n{t}\nSchema: {j} |
Extract the values for this JSON Schema: {j}\nText: {t} | Extract data for the schema {j} from this text: {t} |
Fill this schema: {j}\n{t} | Fill this JSON Schema from the text.\n{j}\n{t} |
Fill in the schema {j} with the text: {t} | Fill the schema with data from the text.\nSchema: {j}\nText: {t} |
Fit the text to the schema {j}: {t} | Follow the schema {j} and write JSON.\n{t} | Follow this schema.\n{j}\n\n{t} |
Use this schema: {j}\nText: {t} | Use this JSON Schema: {j}\n{t} | Use the schema {j} and answer in JSON.\n{t} |
Use this schema to write JSON: {j}\nInput: {t} | Write JSON for this schema: {j}\n{t} |
Write JSON by the schema {j}: {t} | Write JSON that follows the schema.\n{j}\nText: {t} |
Write a JSON object that fits this schema: {j}\nThe text: {t} | Return JSON by this schema: {j}\nText: {t} |
Return a JSON object that follows {j}.\n{t} | Return the data as JSON by the schema.\nText: {t}\nSchema: {j} |
Return JSON matching the schema {j} for this text: {t} | Output JSON by the schema {j}.\n{t} |
Output a JSON object matching this schema.\n{j}\n{t} | Answer in JSON by this schema: {j}\n{t} |
Answer with JSON that follows this schema.\n{j}\n\n{t} | Answer with a JSON object matching {j}.\n{t} |
Give me JSON for this schema: {j}\nText: {t} | Give me JSON that fits this schema.\n{t}\n{j} |
Give me the data as JSON. Schema: {j}\n{t} | Make JSON by this schema: {j}\n{t} |
Make a JSON object for the schema {j} from this text: {t} | Turn the text into JSON by the schema {j}: {t} |
Turn this into JSON: {t}\nThe schema: {j} | Turn this text into a JSON object matching {j}.\n{t} |
Convert the text to JSON by this schema: {j}\n{t} | Convert this: {t}\nSchema: {j} | Convert to {j}: {t} |
Parse this by the schema {j}: {t} | Parse the text into this schema.\n{j}\n{t} | Parse: {t}\nJSON Schema: {j} |
Read the text and fill the schema {j}.\n{t} | Read the text and write JSON for this schema.\n{t}\n{j} |
Read this: {t}\nReturn JSON for this schema: {j} | Put the data of this text into the schema {j}: {t} |
Put this into JSON: {t}\nSchema: {j} | Can you extract JSON by the schema {j}?\n{t} |
Can you turn this text into JSON that fits {j}? {t} | Could you write JSON for this schema? {j}\nText: {t} |
I need JSON for the schema {j}.\n{t} | I need the data of this text as JSON: {t}\nSchema: {j} |
I want JSON that follows this schema: {j}\nText: {t} | I have a schema: {j}\nI have a text: {t}\nFill the schema. |
I have this schema: {j}\nExtract the data from this: {t} | Here is the schema.\n{j}\nHere is the text.\n{t} |
Here is the text: {t}\nHere is the schema: {j} | Here is a text.\n{t}\nExtract JSON by this schema.\n{j} |
This is the schema: {j}\nThis is the text: {t} | The schema is {j}. The text is: {t} |
The schema: {j}\nThe text: {t}\nThe JSON: | With this schema: {j}\nExtract the data: {t} |
By the schema {j}, write JSON for this text: {t} | JSON by this schema, please: {j}\n{t} | JSON that fits {j}: {t} |
JSON Schema: {j}\n\nText: {t}\n\nJSON: | JSON Schema:\n{j}\nText:\n{t} | Schema: {j}\n{t} |
Schema: {j}\nInput: {t}\nOutput: | Schema: {j}\nExtract the data.\n{t} | Schema: {j}\nFill it from this text: {t} |
Text: {t}\nJSON Schema: {j} | Text: {t}\nFill this schema: {j} |
Text: {t}\nWrite JSON that fits the schema.\nSchema: {j} | Input: {t}\nSchema: {j} |
Input: {t}\nAnswer with JSON by this schema: {j} | {t}\n\nSchema: {j} | {t}\n\nJSON Schema:\n{j} |
{t}\nJSON by this schema: {j} | {t}\nExtract the data by the schema {j} | {t}\nWrite JSON that fits this schema: {j} |
{t}\nTurn this into JSON. Schema: {j} | {t}\nFollow the schema {j} | {t}\nMake a JSON object matching {j} |
{t}\nUse the JSON Schema {j} | {t}\nCan you fill this schema? {j} | {t}\nI need JSON for this schema: {j} | {j}\n{t} |
{j}\n\nText: {t} | {j}\nThat is the schema. The text: {t} | {j}\nWrite JSON by this schema for: {t} |
{j}\nExtract the data from this text: {t} | {j}\nReturn JSON that fits.\n{t} |
<schema>{j}</schema>\n<text>{t}</text>""")
AGAIN = phrases("""Now {k}. | Now {k} as JSON. | And {k}? | Only {k}, please. | Give me {k}. | Also {k}. |
Again with {k}. | JSON with {k}. |
Next {k}. | I need {k}. | {k}, please. | What about {k}? | And now {k}? | Same with {k}. | Just {k}. | Then {k}. |
Can I have {k}? | Show {k}. | Extract {k}. | This time {k}. | Again, but {k}. | Only {k} now. | Please give {k}. |
{k} this time. | {k} only. | And the same with {k}. | Now with {k}. | Also give me {k}. | Also extract {k} as JSON. |
Also JSON with {k}. | Again, with {k} only. | Again as JSON: {k} | Once more with {k}. | Once more, but only {k}. |
Once more: {k} | The same for {k}. | The same, but with {k}. | The same text, but {k}. | Same text, now {k}. |
Same for {k}. | Same again with {k}. | From the same text, {k}. | From the same text, give me {k} as JSON. |
Out of the same text I need {k}. | This time only {k}. | This time give me {k}. | This time extract {k}. |
This time I want {k}. | Only {k} as JSON. | Only JSON with {k}. | Give me only {k}. | Give me {k} as JSON. |
Give me JSON with {k}. | Give me {k} too. | Extract {k} as JSON. | Extract {k} too. | Extract only {k}. | Return {k}. |
Return {k} as JSON. | Return only {k}. | Show me {k}. | Show me {k} as JSON. | Show only {k}. | Get {k}. |
Get me {k} as JSON. | Write {k}. | Write {k} as JSON. | Write JSON with {k}. | Find {k} too. | JSON: {k} | Keys: {k} |
Keys now: {k} | Fields: {k} | Fields now: {k} | With the keys {k}. | With the fields {k} now. | Can you do {k} too? |
Can you do the same with {k}? | Can I get {k}? | Can I have {k} as JSON? | Can I have only {k}? |
What about {k} as JSON? | How about {k}? | How about only {k}? | I want {k}. | I want only {k}. |
I want {k} as JSON now. | I need {k} as JSON. | I need only {k}. | I also need {k}. | I also want {k}. |
I would like {k}. | I would like {k} as JSON. | I forgot {k}. Give me that too. | Let me have {k}. | Let me see {k}. |
Let me see {k} as JSON. | Good. Now {k}. | Good, and {k}? | Fine, now {k} as JSON. | Fine, and only {k}? |
Thanks, now {k}. | Thanks, and now only {k}.""")
SYSTEMS = phrases("""Answer with JSON only. | You extract data as JSON. | Return JSON only. |
You are a JSON extractor. | Only output JSON. | You turn text into JSON. | Reply with a JSON object. |
Output valid JSON. |
You write JSON. | JSON only. | Your answers are JSON. | You answer in JSON. | No text, only JSON. |
You fill in JSON. | Extract data. | You are a helpful assistant that writes JSON. | Respond with JSON. |
You read texts and write JSON. |
Answer only with JSON. | Answer only with a JSON object. | Answer in JSON. |
Answer with a JSON object and no other text. | Always answer in JSON. | Always answer with a JSON object. |
Always reply with JSON. | Always return JSON. | Always output JSON, no text. | Do not write anything but JSON. |
Write JSON and nothing else. | Write only JSON objects. | Write no text, just JSON. | Every answer is a JSON object. |
Every reply is JSON. | Each answer must be valid JSON. | Your answer is one JSON object. | Your reply is always JSON. |
Your output is JSON. | Your output must be a JSON object. | Your task is to extract data as JSON. |
Your task is to turn text into JSON. | Your job is to extract fields as JSON. | Your job is to fill in JSON fields. |
You are an assistant that extracts data as JSON. | You are an assistant that returns JSON. |
You are an assistant for data extraction. | You are a data extractor. | You are a data extraction tool. Output JSON. |
You are a helpful assistant. Answer in JSON. | You are a helpful assistant. You extract data from text. |
You are a parser. You return JSON. | You are a parser that turns text into JSON. | You extract data from text. |
You extract fields from text and return JSON. | You extract fields from messages. |
You extract information as a JSON object. | You fill JSON objects from text. | You only speak JSON. |
You only write JSON. | You only return valid JSON. | You output JSON only. | You output JSON objects. |
You parse text into JSON. | You parse messages and return JSON. | You reply in JSON. | You return JSON objects. |
You return valid JSON and nothing else. | You read messages and fill in JSON fields. |
You turn messages into JSON objects. | You turn sentences into JSON. | Extract data from the text as JSON. |
Extract fields from the text of the user. | Extract information and return JSON. | Fill in the JSON fields. |
Help the user to turn text into JSON. | Help the user to extract data. | Find the fields in the text and write JSON. |
Give JSON only. | Give a JSON object as answer. | Just JSON, please. | Just return JSON. | JSON only, no other text. |
JSON objects only. | JSON output only. | No sentences, only JSON. | No words, just a JSON object. | Nothing but JSON. |
Output format: JSON | Output: one JSON object. | Reply in JSON. | Reply only with JSON. |
Reply with valid JSON and no text. | Respond only with a JSON object. | Respond in JSON only. |
Respond with valid JSON. | Return a JSON object. | Return valid JSON. | Read the text and return JSON. |
Read the text of the user and extract the data. | The answer must be JSON. | The answer is always a JSON object. |
The user sends text, you return JSON. | The user needs JSON. | Use JSON. | Use JSON for all answers. |
Use JSON objects as answers.""")


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
