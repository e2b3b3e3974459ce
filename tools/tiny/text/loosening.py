"""Variation of wordings in training: framed, clipped and noisy forms of a template, so that none is learned by heart.

Held-out templates stay as they are written. Only soft words are dropped (articles, `please`, `tell`): a word that says
what is wanted gives way at most to another of the same meaning, and nothing made up is put next to a field, where a
value could grow.
"""

import re
from collections.abc import Sequence

from tools.tiny.text import words
from tools.tiny.text.source import Source, phrases
from tools.tiny.text.synonyms import misspelt, otherwise

_SOFT = frozenset(
    phrases("""please | can | could | would | tell | give | what | is | the | a | an | do | does | of | it | this |
that | want | need | like | for | in | at | let | show | which | me | there | be""")
)
_FILLERS = phrases("""really | maybe | again | quickly | exactly | actually | honestly | simply | kindly | today |
now | friend | assistant | then | still | perhaps | just | also | next | once more | for a moment | by the way |
if possible | as usual | for my notes | for a friend""")
# Words that mean nothing to any task, so that an unknown word in a wording is not taken for the thing to copy.
_STRAYS = phrases("""above | across | actual | all | almost | already | although | always | among | another | any |
anybody | appears | away | back | based | basically | because | become | been | behind | being | belongs | below |
beneath | beside | between | beyond | both | briefly | bring | brought | carefully | case | certain | certainly |
clearly | come | comes | common | complete | considered | contains | correctly | country | current | currently |
dear | describe | described | during | each | early | easily | either | else | enough | entire | especially | even |
ever | every | everyone | everywhere | exact | expected | fact | fairly | far | few | final | finally | following |
found | fully | further | general | generally | given | goes | going | got | great | group | grown | happens |
hardly | have | heard | held | hence | here | hold | holds | hopefully | however | important | indeed | inside |
instead | interesting | itself | keep | kept | kind | known | lately | later | likely | listed | little | local |
long | made | main | mainly | makes | many | matter | mean | means | meant | might | mine | mostly | much | must |
named | namely | near | nearly | necessary | nice | normal | normally | obvious | often | ordinary | original |
other | others | ought | ours | out | over | own | part | particular | past | people | perfect | place | placed |
point | possible | possibly | precise | present | probably | proper | public | put | quite | rather | real |
recent | regular | related | remain | said | seem | seems | seen | several | should | similar | since | some |
someone | something | sometimes | somewhere | soon | sort | special | specific | spoken | stands | states | stay |
suddenly | sure | taken | term | themselves | therefore | these | thing | things | think | those | though |
through | throughout | thus | time | together | told | too | toward | truly | typical | under | until | up | upon |
used | useful | usual | usually | various | very | want | way | ways | well | went | were | whatever | whether |
while | whole | whom | whose | within | world | worth | written | yesterday | yet""")
_OPENERS = phrases("""Please:  | Hello!  | Hi,  | Okay,  | Now:  | Next:  | Question:  | One question:  |
Quick one:  | Task:  | My question:  | So:  | Well,  | Good morning.  | Another one.  | Right.  |
Here is my question.  | Dear assistant,  | Thanks.  | Great!  | Fine, and now:  | Listen.  | Short question:  |
I need your help.  | Answer this:  | For my work: """)
_CLOSERS = phrases(""" Thanks! |  Please. |  Thank you. |  I need it now. |  That would be nice. |
 It matters to me. |  Answer soon. |  Many thanks! |  Be quick. |  I am waiting. |  Just that. |  Go ahead. |
 Do it now. |  Okay?""")
_REQUESTS = phrases("""Please {d}. | Can you {d}? | Could you {d}? | Would you {d}? | I want you to {d}. |
You should {d}. | I would like you to {d}. | Will you {d}? | Kindly {d}. | Go and {d}. | Your task is to {d}. |
I need you to {d}. | It is time to {d}. | Would you please {d}? | Can you please {d}? | I ask you to {d}. | Now {d}. |
Let us {d}. | Could you please {d}? | Try to {d}. | Help me to {d}. | Please go ahead and {d}. | Make sure to {d}. |
Are you able to {d}? | Do me a favour and {d}. | Just {d}. | First, {d}. | You can now {d}. | Be so kind and {d}.""")
_INQUIRIES = phrases("""Tell me: {q} | I wonder: {q} | Do you know this? {q} | I ask you: {q} |
I want to know: {q} | Please answer: {q} | Can you say: {q} | They asked me: {q} | I forgot: {q} |
Somebody asked: {q} | Please tell me: {q} | Can you answer this? {q} | Here it comes: {q} | Say, {q} |
What do you think: {q} | Let me ask: {q}""")
_IMPERATIVES = frozenset(
    phrases("""Add | Answer | Archive | Book | Bring | Buy | Calculate | Call | Change | Check | Compute | Convert |
Copy | Count | Create | Echo | Email | Evaluate | Extract | Fill | Find | Get | Give | Heat | Label | List | Load |
Look | Mail | Make | Measure | Message | Multiply | Name | Open | Order | Pick | Plan | Play | Print | Put | Read |
Remind | Repeat | Return | Reverse | Roll | Run | Save | Say | Schedule | Search | Send | Set | Show | Spell | Start |
Subtract | Sum | Summarize | Switch | Tag | Take | Tell | Text | Throw | Tie | Tune | Translate | Turn | Use | Wake |
Weigh | Work | Write | Lock | Vacuum | Hoover | Clean | Reserve | Transfer | Pay | Log | Record | Track | Generate |
Flip | Toss | Adjust | Shoot | Ping | Note""")
)
SHORTEST_NOISY = 5
_SENTENCE_END = re.compile(r"[.?!]$")


def _noisy(source: Source, template: str) -> str:
    """Some soft words dropped or replaced, other words put in after soft words."""
    parts = template.split(" ")
    if len(parts) < SHORTEST_NOISY:
        return template
    kept: list[str] = []
    for place, word in enumerate(parts):
        soft = word.lower() in _SOFT
        if soft and source.chance(0.14):
            if source.chance(0.4):
                kept.append(source.one(_STRAYS))
            continue
        if place and parts[place - 1].lower() in _SOFT:
            kept += _inserted(source, before_field="{" in word)
        kept.append(word)
    return " ".join(kept) if kept else template


def _inserted(source: Source, before_field: bool) -> list[str]:
    """Nothing, a filler or a word without a meaning; nothing made up where it could seem part of a value."""
    if not source.chance(0.12):
        return []
    if before_field or source.chance(0.6):
        return [source.one(_STRAYS)]
    return [words.made_up(source) if source.chance(0.5) else source.one(_FILLERS)]


def _framed(source: Source, template: str) -> str:
    """An imperative as a request, a question after an introduction."""
    head = template.split(" ", 1)[0]
    lowered = template[0].lower() + template[1:]
    single = len(re.findall(r"[.?!:\n]", template)) == 1
    if head in _IMPERATIVES and template.endswith(".") and single:
        return source.one(_REQUESTS).replace("{d}", lowered[:-1])
    if template.endswith("?") and single:
        question = lowered if not template.startswith("I ") and source.chance(0.5) else template
        return source.one(_INQUIRIES).replace("{q}", question)
    return template


def _edged(source: Source, template: str) -> str:
    """Other beginnings and endings; no ending after a field, whose value it would seem to belong to."""
    if source.chance(0.25):
        template = source.one(_OPENERS) + template
    elif not template.startswith("{") and source.chance(0.2):
        template = template[0].lower() + template[1:]
    if _SENTENCE_END.search(template):
        if source.chance(0.15):
            return template + source.one(_CLOSERS)
        if source.chance(0.2):
            return template[:-1]
    return template


def loosened(source: Source, template: str) -> str:
    """The template, or where the sample is varied mostly a variant of it with the same fields."""
    if not source.varied or source.chance(0.3):
        return template
    if source.chance(0.4):
        template = otherwise(source, template)
    if source.chance(0.06):
        template = misspelt(source, template)
    if source.chance(0.4):
        template = _framed(source, template)
    if source.chance(0.5):
        template = _noisy(source, template)
    return _edged(source, template)


_ASKING = ("What", "Which", "Who", "When", "Where", "How", "Is", "Does", "Do", "Can", "Tell me", "Say", "I", "The", "")


def strange(source: Source, key: str) -> str:
    """A question of which nothing but the key can be understood: `When gromp matter the barn yet?`"""

    def noise(most: int) -> list[str]:
        return [
            words.made_up(source) if source.chance(0.4) else source.one(_STRAYS) for _ in range(source.integer(0, most))
        ]

    asking = source.any(_ASKING)
    said = " ".join([*([asking] if asking else []), *noise(3), key, *noise(2)])
    return said + source.any(("?", "?", "?", ".", ""))


def worded(source: Source, templates: Sequence[str], *spoken: object, **values: object) -> str:
    """One template of this split, varied if it is trained on, with its fields filled."""
    return loosened(source, source.one(templates)).format(*spoken, **values)
