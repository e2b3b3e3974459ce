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
upload | verify | visit | watch | wrap | accept | activate | adjust | allow | arrange | attach | audit | ban |
begin | bind | brew | build | burn | call | catalog | charge | claim | clear | collect | collide | combine |
compare | compile | complete | compute | configure | confirm | connect | convert | count | cut | decline |
decode | define | demote | detect | disable | discard | disconnect | download | draw | duplicate | empty |
encode | end | erase | estimate | execute | expand | explain | extend | feed | filter | fill | flag | fold |
follow | format | forward | generate | grant | heat | ignore | index | insert | invite | join | keep | launch |
lease | lend | lift | link | log | lower | mail | make | migrate | monitor | mute | normalize | note | offer |
optimize | parse | permit | pick | pin | place | plan | post | preview | process | promote | prune | queue |
raise | rank | record | recover | reduce | refund | register | reject | release | reload | remove | render |
renew | rent | reopen | repeat | replace | reply | report | request | reserve | resize | resolve | restore |
retire | return | revert | revoke | ring | rotate | route | run | schedule | search | select | sell | settle |
shift | sign | simulate | skip | snooze | split | stamp | subscribe | suspend | swap | tag | trace | trade |
transfer | trim | trigger | unlock | unpack | validate | view | wake | warm | weigh | write | zip""")

NOUNS = phrases("""account | album | article | backup | badge | batch | bill | branch | card | cart | channel |
claim | client | column | comment | container | contract | course | customer | device | document | door |
draft | employee | engine | entry | event | file | folder | form | game | garden | group | image | invoice |
issue | job | key | lamp | lesson | letter | license | list | log | machine | meeting | member | menu |
message | model | note | order | package | page | parcel | patient | payment | permit | photo | pipeline |
plan | playlist | policy | post | printer | profile | project | pump | queue | recipe | record | release |
report | request | room | route | rule | sample | sensor | server | service | session | shelf | shipment |
signal | site | song | station | student | survey | table | task | team | template | test | ticket | token |
tool | train | trip | user | valve | vehicle | video | vote | wallet | window | worker | alarm | balance |
basket | battery | beacon | bed | bicycle | blog | board | boat | booking | bottle | box | bracelet | bridge |
browser | budget | building | bus | button | cabin | cache | calendar | camera | campaign | candidate | case |
category | certificate | chapter | chart | chat | check | class | clip | code | collection | company |
computer | connection | contact | counter | coupon | cover | crate | credit | curtain | dashboard | dataset |
date | delivery | desk | diagram | discount | disk | dish | domain | drawer | driver | drone | elevator | exam |
exercise | experiment | fan | farm | feature | feed | fence | field | fine | flag | fleet | flight | floor |
freezer | fridge | gate | gift | glossary | goal | grade | grant | guide | heater | highlight | hotel | house |
index | item | journal | kit | lab | label | laptop | layer | lead | league | link | loan | locker | lot |
magazine | manual | map | match | meal | method | metric | microphone | mission | module | monitor | network |
newsletter | notebook | notice | number | object | offer | office | oven | painting | panel | paper |
parameter | partner | password | path | phone | picture | pipe | plant | player | podcast | poll | pool |
portfolio | poster | prescription | price | prize | product | program | promotion | proposal | province |
purchase | puzzle | quest | question | quiz | quote | receipt | refund | region | rental | reply | reservation |
resource | result | review | reward | river | road | robot | role | roster | sale | scene | schedule | school |
score | screen | script | seat | section | segment | sheet | shift | ship | shop | skill | slide | socket |
solution | sound | source | speaker | stage | stamp | statement | stock | store | story | stream | street |
subscription | summary | supplier | switch | symbol | system | tank | target | tariff | term | thread | tile |
timer | topic | tower | toy | track | trailer | transaction | tree | truck | tunnel | tutorial | umbrella |
uniform | unit | update | vendor | venue | version | village | visitor | voucher | wall | warehouse | warranty |
watch | website | wheel | workflow | workout | workspace | zone""")

FIELDS: tuple[Field, ...] = (
    Field(
        (
            "name",
            "owner",
            "author",
            "manager",
            "customer_name",
            "assignee",
            "guest",
            "reviewer",
            "editor",
            "driver",
            "leader",
        ),
        "string",
        text(words.first_name),
    ),
    Field(
        ("full_name", "contact", "signer", "person", "holder", "sender", "responsible", "applicant"),
        "string",
        text(words.full_name),
    ),
    Field(
        ("id", "code", "reference", "serial", "key", "number", "tracking_id", "sku", "uid", "identifier", "ident"),
        "string",
        text(words.identifier),
    ),
    Field(
        ("title", "label", "subject", "topic", "caption", "comment", "reason", "note", "summary", "headline", "remark"),
        "string",
        text(words.phrase),
    ),
    Field(
        ("city", "location", "region", "destination", "site", "place", "origin", "branch"), "string", text(words.city)
    ),
    Field(("colour", "color", "paint", "theme", "background", "shade"), "string", text(pick(words.COLOURS))),
    Field(
        (
            "count",
            "quantity",
            "priority",
            "level",
            "size",
            "limit",
            "pages",
            "seats",
            "floor",
            "position",
            "amount",
            "retries",
            "version",
            "rank",
        ),
        "integer",
        number(0, 200),
    ),
    Field(
        ("weight", "price", "score", "rate", "length", "budget", "cost", "height", "discount", "factor"),
        "number",
        decimal(0, 500),
    ),
    Field(("date", "due", "deadline", "start_date", "end_date", "valid_until", "expires"), "string", text(words.date)),
    Field(("time", "start", "begin", "open_at", "end", "starts_at", "close_at"), "string", text(words.clock)),
    Field(("email", "address", "mail", "reply_to", "contact_email", "cc"), "string", text(words.email)),
    Field(("day", "weekday", "on_day", "delivery_day", "repeat_on"), "string", text(pick(words.WEEKDAYS))),
    Field(
        ("urgent", "public", "active", "locked", "paid", "draft", "visible", "shared", "final", "hidden", "required"),
        "boolean",
        switch("yes", "no"),
    ),
    Field(
        ("tags", "items", "names", "parts", "members", "labels", "topics", "keywords", "contents"),
        "array",
        listing(pick(words.COMMON)),
    ),
    Field(
        ("word", "nickname", "keyword", "alias", "codename", "slug", "brand", "prefix"), "string", text(words.syllables)
    ),
)

ASKS = phrases("""{V} the {n} with {p}. | Please {v} the {n} with {p}. | {V} a {n}: {p} |
I want to {v} a {n} with {p}. | Can you {v} the {n}? Use {p}. | {V} {n}, {p} | Could you {v} the {n} ({p})? |
We need to {v} the {n}: {p}. | Please {v} a {n}. Here is the data: {p} | {V} the {n} for me, {p}. |
I would like to {v} the {n}: {p} | Time to {v} the {n} with {p}. | Use {t} with {p}. | Call {t}: {p} |
Run {t} with {p}. | {t}: {p} | {V} the {n} where {p}. | Let us {v} the {n}: {p}. | Please {v} this {n}: {p} |
I need you to {v} the {n} with {p}. | {V} that {n}. {p} | The {n} should {v}: {p} |
Will you {v} the {n} with {p}? | {V} my {n} using {p}. | Please go and {v} the {n} ({p}). |
Help me {v} a {n}: {p} | It is time to {v} a {n}: {p} | Be so kind and {v} the {n} with {p}. |
I must {v} the {n}. The data: {p} | You should {v} the {n}, {p}. | There is a {n} to {v}: {p} |
{n}: {v} it with {p} | With {p}, {v} the {n}. | For {p}: {v} the {n}. | Do this: {v} the {n}, {p} |
{V} one {n} with {p}. | Make it so: {v} the {n}, {p}. | Please use {t}: {p} | Start {t} with {p}. |
I want {t} with {p}. | {t} with {p}, please. | Execute {t}: {p} | Try {t} with {p}. |
Can you {v} the {n} with {p}? | Can you {v} a {n}: {p} | Can you {v} this {n} for me? {p} |
Can I {v} the {n} with {p}? | Could you {v} a {n} with {p}? | Could you {v} my {n}? The values: {p} |
Could we {v} the {n} with {p}? | Would you {v} the {n}? It has {p}. | Would you {v} a {n} with {p}? |
Would you mind? {V} the {n}: {p} | {v} {n} {p} | {v} {n} with {p} | {v} the {n}: {p} | {n} {v}: {p} |
{n}, {v}, {p} | {V} the {n}. Values: {p} | {V} the {n}. It has {p}. | {V} the {n}, and use {p}. |
{V} the {n} using {p}. | {V} the {n}, given {p}. | {V} the {n} that has {p}. | {V} a {n} that has {p}. |
{V} a {n}, {p} | {V} a {n} for me: {p} | {V} a {n} with the following: {p} | {V} a new {n} with {p}. |
{V} our {n}: {p} | {V} our {n} with {p}. | {V} my {n}: {p} | {V} my {n} with {p}. | {V} this {n}: {p} |
{V} this {n} with {p}. | {V} the next {n}: {p} | {V} the following {n}: {p} | Please {v} my {n} with {p}. |
Please {v} our {n}: {p} | Please {v} {n}: {p} | Please {v} the {n} and use {p}. |
Please {v} the {n}, it has {p}. | I need to {v} the {n}: {p} | I need to {v} a {n} with {p}. |
I need the {n} to {v}: {p} | I have a {n} to {v}: {p} | I have to {v} the {n} with {p}. |
I have to {v} a {n}. It has {p}. | I'd like to {v} the {n} with {p}. | I'd like you to {v} a {n}: {p} |
I'd like to {v} my {n}, {p}. | I want to {v} my {n}: {p} | I want you to {v} the {n} with {p}. |
I want the {n} with {p}. {V} it. | I am going to {v} a {n}: {p} | I am trying to {v} the {n} with {p}. |
My boss wants to {v} the {n} with {p}. | My {n} has {p}. {V} it. | My task is to {v} the {n}: {p} |
We have to {v} the {n}. Use {p}. | We want to {v} a {n} with {p}. | We have a {n} with {p}. {V} it. |
We should {v} the {n}: {p} | Someone has to {v} the {n}: {p} | The customer wants to {v} a {n} with {p}. |
The {n} has {p}. Please {v} it. | The {n}, {v} it: {p} | The data for the {n} is {p}. {V} it. |
The values are {p}. {V} the {n}. | The next step is to {v} the {n}: {p} | The job: {v} the {n} with {p}. |
There is a {n} with {p}. {V} it. | Here is a {n} to {v}: {p} | Here is the data: {p}. {V} the {n}. |
Here are the values: {p}. Please {v} the {n}. | This {n} has {p}. {V} it. |
This is what I need: {v} the {n} with {p}. | Given {p}, {v} the {n}. | Using {p}, {v} the {n}. |
Taking {p}, please {v} a {n}. | With {p}, please {v} a {n}. | With {p} I want to {v} the {n}. |
For {p}, please {v} the {n}. | Data: {p}. Task: {v} the {n}. | Task: {v} the {n} with {p}. |
Job: {v} a {n}, {p} | To do: {v} the {n} with {p}. | Next, {v} the {n}: {p} | Now {v} the {n} with {p}. |
Now I want to {v} a {n}: {p} | Go and {v} a {n} with {p}. | Go ahead and {v} the {n}: {p} |
Make sure to {v} the {n} with {p}. | Do not forget to {v} the {n}: {p} | Try to {v} the {n} with {p}. |
How about you {v} the {n} with {p}? | How do I {v} the {n}? I have {p}. Do it for me. |
Is it possible to {v} the {n} with {p}? | Are you able to {v} a {n} with {p}? | Let's {v} the {n} with {p}. |
Let's {v} a {n}: {p} | Let me {v} the {n} with {p}. | It would be good to {v} the {n} with {p}. |
Today we {v} the {n} with {p}. | Use {t}: {p} | Use {t} for this: {p} | Use the tool {t} with {p}. |
Call {t} with {p}. | Call the tool {t}: {p} | Call the function {t} with {p}. | Can you call {t} with {p}? |
Could you use {t} with {p}? | Could you run {t}: {p} | Run {t}: {p} | Run the tool {t} with {p}. |
Please run {t} with {p}. | Please call {t}: {p} | I need {t} with {p}. | I'd like {t} with {p}. |
With {p}, call {t}. | {t} {p} | Execute {t} with {p}. | Start the tool {t}: {p}""")
BARE_ASKS = phrases("""{V} the {n}. | Please {v} the {n}. | {V} {n} | I want to {v} the {n}. |
Can you {v} the {n}? | Could you {v} the {n}? | Use {t}. | Call {t}. | {V} the {n} for me. |
Time to {v} the {n}. | Let us {v} the {n}. | Will you {v} the {n}? | I need you to {v} the {n}. | {V} my {n}. |
{V} that {n} now. | Help me {v} the {n}. | We must {v} the {n}. | You should {v} the {n}. |
The {n}: please {v} it. | Go and {v} the {n}. | It is time to {v} the {n}. | I would like to {v} the {n}. |
Do {v} the {n}. | There is a {n} to {v}. | Please use {t}. | Start {t}. | {t}, please. | Execute {t}. |
Run {t}. | Try {t}. | I want {t}. | Can you {v} a {n}? | Can you {v} the {n} for me? | Can you {v} this {n}? |
Can I {v} the {n}? | Can we {v} the {n} now? | Could you {v} a {n} for me? | Could you {v} my {n}? |
Could we {v} the {n}? | Would you {v} the {n}? | Would you {v} this {n} for me? | Will you {v} my {n}? |
{v} {n} | {v} the {n} | {v} my {n} please | {n} {v} | {n}: {v} | {n}, {v} it | {V} a {n} for me. |
{V} a {n}, please. | {V} this {n}. | {V} our {n}. | {V} the {n} now. | {V} the {n} as usual. |
{V} the {n} once more. | {V} the {n} right away. | Please {v} a {n}. | Please {v} my {n}. |
Please {v} this {n} for me. | Please go and {v} the {n}. | I need to {v} the {n}. | I need to {v} a {n}. |
I need you to {v} my {n}. | I have to {v} the {n}. | I have a {n} to {v}. | I must {v} the {n}. |
I'd like to {v} the {n}. | I'd like you to {v} a {n}. | I want you to {v} the {n}. | I want to {v} my {n}. |
I want to {v} a {n}. | I am going to {v} the {n}. | We need to {v} the {n}. | We have to {v} a {n}. |
We want to {v} the {n}. | We should {v} our {n}. | You can {v} the {n} now. | Someone has to {v} the {n}. |
Somebody should {v} this {n}. | My {n}: {v} it. | My task is to {v} the {n}. | The {n}, please {v} it. |
The {n} is there. {V} it. | The next step is to {v} the {n}. | The job is to {v} the {n}. |
Here is a {n} to {v}. | Here is my {n}. {V} it. | This {n}: can you {v} it? | Now {v} the {n}. |
Next, {v} the {n}. | Task: {v} the {n}. | To do: {v} the {n}. | Go ahead and {v} the {n}. |
Make sure to {v} the {n}. | Do not forget to {v} the {n}. | Try to {v} the {n}. | How about you {v} the {n}? |
Is it possible to {v} the {n}? | Are you able to {v} the {n}? | Let's {v} the {n}. | Let's {v} a {n}. |
Let me {v} the {n}. | It would be good to {v} the {n}. | Use the tool {t}. | Use {t} for this. |
Use the function {t}. | Call the tool {t}. | Call the function {t}. | Please call {t}. | Please run {t}. |
Can you call {t}? | Could you run {t}? | Could you use {t}? | Run the tool {t}. | Start the tool {t}. |
I need {t}. | I'd like {t} to run. | Execute {t} now. | {t} | {t} now""")
PAIRS = ("{k} {x}", "{k}: {x}", "{k} = {x}", "{k} is {x}", "{k}={x}", "{k} set to {x}")
DESCRIPTIONS = phrases("""{V} a {n}. | {V} the {n} | {V}s a {n}. | Tool to {v} a {n}. |
{V} one {n} of the system. | Lets you {v} a {n}. | Can {v} a {n}. | Used to {v} the {n}. |
This will {v} a {n}. | {V}: one {n} | How to {v} a {n} | A tool that can {v} the {n}. |
Call this to {v} a {n}. | {V} a {n} by its data. | Helps to {v} a {n}. | {V} any {n} | {V} the {n}. |
{V} a {n} | {V} one {n}. | {V} this {n}. | {V} {n} | {V} a single {n}. | {V} a {n} in the system. |
{V} a {n} of the user. | {V} a given {n}. | {V} an existing or new {n}. | {V} the given {n} |
{V} the {n} with these values. | {V} the {n} of a user. | {V} the {n} by its fields. | Use this to {v} a {n}. |
Use it to {v} the {n} | Use this tool to {v} the {n}. | Use when you want to {v} a {n}. |
Call it to {v} the {n}. | Call this function to {v} a {n}. | Call this when you need to {v} the {n}. |
Tool that can {v} a {n}. | Tool for a {n}: {v} it. | A function to {v} a {n}. |
A function that can {v} the {n}. | A tool to {v} the {n}. | Function to {v} the {n} | Lets the user {v} a {n}. |
Lets you {v} the {n}. | Allows you to {v} a {n}. | Allows to {v} the {n}. | Makes it possible to {v} a {n}. |
This tool can {v} a {n}. | This function will {v} the {n}. | Can {v} the {n} for you. | Will {v} the {n}. |
To {v} a {n} | To {v} the {n}. | For when you need to {v} a {n}. | Here you can {v} a {n}. |
With this you can {v} a {n}. | Helps you {v} the {n}. | Made to {v} a {n}. | Needed to {v} the {n}.""")
STATES = phrases("""done | ok | ready | pending | failed | queued | active | closed | accepted | rejected |
finished | open | blocked | late | running | waiting | stopped | paused | started | saved | sent | created |
deleted | updated | approved | denied | cancelled | expired | locked | unlocked | online | offline | new | old |
empty | full | complete | incomplete | planned | in progress | on hold | delayed | confirmed | shipped |
broken | busy""")


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


def synthesise(source: Source, verb: str = "", noun: str = "") -> tuple[Concept, str, str]:
    """A tool that exists nowhere, with its verb and noun; its asks list the parameters by name."""
    verb, noun = verb or words.listed(source, VERBS), noun or words.listed(source, NOUNS)
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
