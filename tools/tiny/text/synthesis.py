"""Invented tools: any verb with any noun and any parameters, so that schemas must be read, not remembered."""

from typing import Any

from tools.tiny.text import words
from tools.tiny.text.catalogue import (
    Concept,
    Field,
    Outcome,
    decimal,
    listing,
    number,
    pick,
    switch,
    text,
)
from tools.tiny.text.loosening import worded
from tools.tiny.text.source import Source, phrases

VERBS = phrases("""archive | approve | assign | block | cancel | check | clean | close | copy | create |
delete | deploy | describe | drop | edit | enable | export | fetch | find | fix | freeze | get | grade | hide |
import | inspect | install | label | list | load | lock | mark | measure | merge | move | open | pack | paint |
pause | ping | print | publish | push | rate | read | rename | repair | reset | restart | resume | review |
save | scan | send | set | share | show | sort | start | stop | store | submit | sync | test | track | update |
upload | verify | visit | watch | wrap""")

NOUNS = phrases("""account | album | article | backup | badge | batch | bill | branch | card | cart | channel |
claim | client | column | comment | container | contract | course | customer | device | document | door | draft |
employee | engine | entry | event | file | folder | form | game | garden | group | image | invoice | issue |
job | key | lamp | lesson | letter | license | list | log | machine | meeting | member | menu | message | model |
note | order | package | page | parcel | patient | payment | permit | photo | pipeline | plan | playlist |
policy | post | printer | profile | project | pump | queue | recipe | record | release | report | request |
room | route | rule | sample | sensor | server | service | session | shelf | shipment | signal | site | song |
station | student | survey | table | task | team | template | test | ticket | token | tool | train | trip |
user | valve | vehicle | video | vote | wallet | window | worker""")

FIELDS: tuple[Field, ...] = (
    Field(
        ("name", "owner", "author", "manager", "customer_name", "assignee", "guest"), "string", text(words.first_name)
    ),
    Field(("full_name", "contact", "signer", "person", "holder"), "string", text(words.full_name)),
    Field(
        ("id", "code", "reference", "serial", "key", "number", "tracking_id", "sku"), "string", text(words.identifier)
    ),
    Field(("title", "label", "subject", "topic", "caption", "comment", "reason"), "string", text(words.phrase)),
    Field(("city", "location", "region", "destination", "site"), "string", text(words.city)),
    Field(("colour", "color", "paint", "theme"), "string", text(pick(words.COLOURS))),
    Field(
        ("count", "quantity", "priority", "level", "size", "limit", "pages", "seats", "floor"),
        "integer",
        number(0, 200),
    ),
    Field(("weight", "price", "score", "rate", "length", "budget"), "number", decimal(0, 500)),
    Field(("date", "due", "deadline", "start_date"), "string", text(words.date)),
    Field(("time", "start", "begin", "open_at"), "string", text(words.clock)),
    Field(("email", "address", "mail", "reply_to"), "string", text(words.email)),
    Field(("day", "weekday", "on_day"), "string", text(pick(words.WEEKDAYS))),
    Field(("urgent", "public", "active", "locked", "paid", "draft", "visible"), "boolean", switch("yes", "no")),
    Field(("tags", "items", "names", "parts", "members"), "array", listing(pick(words.COMMON))),
    Field(("word", "nickname", "keyword", "alias", "codename"), "string", text(words.syllables)),
)

ASKS = phrases("""{V} the {n} with {p}. | Please {v} the {n} with {p}. | {V} a {n}: {p} |
I want to {v} a {n} with {p}. | Can you {v} the {n}? Use {p}. | {V} {n}, {p} | Could you {v} the {n} ({p})? |
We need to {v} the {n}: {p}. | Please {v} a {n}. Here is the data: {p} | {V} the {n} for me, {p}. |
I would like to {v} the {n}: {p} | Time to {v} the {n} with {p}. | Use {t} with {p}. | Call {t}: {p} |
Run {t} with {p}. | {t}: {p} |
{V} the {n} where {p}. | Let us {v} the {n}: {p}. | Please {v} this {n}: {p} | I need you to {v} the {n} with {p}. |
{V} that {n}. {p} | The {n} should {v}: {p} | Will you {v} the {n} with {p}? | {V} my {n} using {p}. |
Please go and {v} the {n} ({p}). | Help me {v} a {n}: {p} | It is time to {v} a {n}: {p} |
Be so kind and {v} the {n} with {p}. | I must {v} the {n}. The data: {p} | You should {v} the {n}, {p}. |
There is a {n} to {v}: {p} | {n}: {v} it with {p} | With {p}, {v} the {n}. | For {p}: {v} the {n}. |
Do this: {v} the {n}, {p} | {V} one {n} with {p}. | Make it so: {v} the {n}, {p}. | Please use {t}: {p} |
Start {t} with {p}. | I want {t} with {p}. | {t} with {p}, please. | Execute {t}: {p} | Try {t} with {p}.""")
BARE_ASKS = phrases("""{V} the {n}. | Please {v} the {n}. | {V} {n} | I want to {v} the {n}. |
Can you {v} the {n}? | Could you {v} the {n}? | Use {t}. | Call {t}. | {V} the {n} for me. |
Time to {v} the {n}. |
Let us {v} the {n}. | Will you {v} the {n}? | I need you to {v} the {n}. | {V} my {n}. | {V} that {n} now. |
Help me {v} the {n}. | We must {v} the {n}. | You should {v} the {n}. | The {n}: please {v} it. |
Go and {v} the {n}. | It is time to {v} the {n}. | I would like to {v} the {n}. | Do {v} the {n}. |
There is a {n} to {v}. | Please use {t}. | Start {t}. | {t}, please. | Execute {t}. | Run {t}. | Try {t}. |
I want {t}.""")
PAIRS = ("{k} {x}", "{k}: {x}", "{k} = {x}", "{k} is {x}")
DESCRIPTIONS = phrases("""{V} a {n}. | {V} the {n} | {V}s a {n}. | Tool to {v} a {n}. |
{V} one {n} of the system. | Lets you {v} a {n}. |
Can {v} a {n}. | Used to {v} the {n}. | This will {v} a {n}. | {V}: one {n} | How to {v} a {n} |
A tool that can {v} the {n}. | Call this to {v} a {n}. | {V} a {n} by its data. | Helps to {v} a {n}. | {V} any {n}""")
STATES = phrases("""done | ok | ready | pending | failed | queued | active | closed | accepted | rejected |
finished | open | blocked | late""")


def _tool_name(source: Source, verb: str, noun: str) -> str:
    shape = source.integer(0, 5)
    if shape <= 2:
        return f"{verb}_{noun}"
    if shape == 3:
        return f"{verb}{noun.capitalize()}"
    if shape == 4:
        return f"{noun}_{verb}"
    return (
        f"{words.made_up(source)}_{verb}_{noun}"
        if source.chance(0.5)
        else f"{verb}_{source.one(words.ADJECTIVES)}_{noun}"
    )


def _outcome(source: Source) -> Outcome:
    shape = source.integer(0, 3)
    if shape == 0:
        return Outcome(("status", "state", "result"), lambda s: s.one(STATES), "")
    if shape == 1:
        return Outcome(("id", "number", "code", "ticket", "reference"), words.identifier, "")
    if shape == 2:
        return Outcome(("count", "total", "size", "left", "pages"), lambda s: s.integer(0, 500), "")
    return Outcome(("name", "owner", "place", "title", "by"), lambda s: s.any((words.first_name, words.city))(s), "")


def synthesise(source: Source) -> tuple[Concept, str, str]:
    """A tool that exists nowhere, with its verb and noun; its asks list the parameters by name."""
    verb, noun = words.listed(source, VERBS), words.listed(source, NOUNS)
    fields: list[Field] = []
    for kind in source.random.sample(FIELDS, source.any((0, 1, 1, 1, 2, 2, 2, 3))):
        name = words.made_up(source) if source.chance(0.12) else source.any(kind.names)
        if source.chance(0.15):
            name = f"{noun}_{name}"
        fields.append(Field((name,), kind.type, kind.make))
    name = _tool_name(source, verb, noun)
    words_of: dict[str, Any] = {"v": verb, "V": verb.capitalize(), "n": noun, "t": name}
    outcomes = tuple(_outcome(source) for _ in range(source.integer(1, 2)))
    description = source.fill(DESCRIPTIONS, **words_of)
    return Concept((name,), (description,), tuple(fields), (), outcomes, ""), verb, noun


def ask(source: Source, concept: Concept, verb: str, noun: str, spoken: list[tuple[str, str]]) -> str:
    """A request naming each parameter: `Archive the invoice with code K7 and owner Anna.`"""
    words_of = {"v": verb, "V": verb.capitalize(), "n": noun, "t": concept.names[0]}
    if not spoken:
        return worded(source, BARE_ASKS, **words_of)
    pair = source.any(PAIRS)
    parts = [pair.format(k=key.replace("_", " ") if source.chance(0.8) else key, x=value) for key, value in spoken]
    return worded(source, ASKS, p=words.joined(parts), **words_of)
