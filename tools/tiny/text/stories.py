"""Small stories and poems about a given thing, with free choices, and the refusal of what is too hard."""

from tools.tiny.text import words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

STORY_ASKS = phrases("""Tell me a story about a {x}. | Write a short story about a {x}. | Tell me about a {x}. |
A story about a {x}, please. | Write a story: {x} | Can you tell a story about a {x}? | Make up a story about a {x}. |
I want to hear a story about a {x}. | Once upon a time there was a {x}. Go on. | Tell a tale of a {x}. |
Invent a story about a {x}. | A tale about a {x}, please. | Give me a story with a {x}. |
Do you know a story about a {x}? | Let me hear about a {x}. | Read me a story about a {x}. | The story of the {x}. |
A little story: {x}""")
POEM_ASKS = phrases("""Write a haiku about the {x}. | Write a poem about the {x}. | A haiku about the {x}, please. |
Make a poem about the {x}. | Poem: {x} | Give me a haiku on the {x}. | Can you write a poem about the {x}? |
Write a few lines about the {x}. |
Compose a haiku about the {x}. | Write verses about the {x}. | A poem on the {x}. | Poetry: {x} |
Some lines on the {x}, please. | I want a poem about the {x}. | Make a haiku of the {x}. |
A short poem about the {x}.""")
HARD_ASKS = phrases("""Explain how {x} works. | Why is {x} important? | What is {x}? | How does {x} work? |
Explain {x}. |
Write an essay about {x}. | Tell me all about {x}. | What do you think about {x}? | Describe {x} in detail. |
Give me a lecture on {x}. | Teach me {x}. | What is the history of {x}? | How do I learn {x}? | Compare {x} and {y}. |
What is the best {x}? | Write code for {x}. | Who invented {x}? | What is the meaning of {x}? |
What can you tell me about {x}? | Why do people like {x}? | Discuss {x}. | Give me ten facts about {x}. |
Write a book about {x}. | How can I understand {x}? | Is {x} good or bad? | Write a program about {x}. |
What is new in {x}? | Give your opinion on {x}. | What is the theory of {x}? | Explain {x} to a child. |
What will happen to {x}? | When did {x} begin? | Make a plan for {x}. | Write a report on {x}. |
Compare {x} with {y}. | Analyse {x}. | What makes {x} special?""")
TOO_HARD = "I am too small for that, sorry."
BEGINNINGS = ("Once there was a {a} {x}.", "Long ago a {a} {x} lived in a {p}.", "In a {p} there lived a {a} {x}.")
MIDDLES = (
    "One day it met a {y}.",
    "It had a {t} and a friend, the {y}.",
    "Every morning it looked for a {t}.",
    "One night it found a {t} in the {p}.",
    "It wanted to see the {p}.",
)
ENDINGS = (
    "They went home together.",
    "In the end all was well.",
    "Then it fell asleep.",
    "And it was never sad again.",
    "So it became the happiest {x} of all.",
)
LINES = ("The {x} is {a} today,", "A {a} {x} in the morning,", "Quiet {x}, {a} and {b},", "The {x} waits in the {p},")
NEXT_LINES = ("a {y} walks along the {p},", "the {y} looks at the {p},", "somewhere a {y} sings,", "no {y} in the {p},")
LAST_LINES = ("and the day is done.", "then all is {b}.", "and night comes.", "so the {x} sleeps.")


def _told(source: Source, thing: str, parts: tuple[tuple[str, ...], ...], joint: str) -> str:
    """One sentence of each part, with freely chosen words: what sampling can vary."""
    adjective, other = source.some(words.ADJECTIVES, 2)
    fields = {
        "x": thing,
        "a": adjective,
        "b": other,
        "y": source.one(words.ANIMALS),
        "t": source.one(words.OBJECTS),
        "p": source.one(words.PLACES),
    }
    return joint.join(source.any(part).format(**fields) for part in parts)


def make_story(source: Source) -> Sample:
    kind = source.integer(0, 4)
    if kind <= 1:
        thing = source.one(words.ANIMALS) if source.chance(0.7) else source.one(words.OBJECTS)
        text = _told(source, thing, (BEGINNINGS, MIDDLES, ENDINGS), " ")
        return Sample(
            "stories", (user(worded(source, STORY_ASKS, x=thing)), assistant(text)), Check("contains", [thing])
        )
    if kind == 2:
        thing = source.one(source.any((words.OBJECTS, words.PLACES, words.TOPICS)))
        text = _told(source, thing, (LINES, NEXT_LINES, LAST_LINES), "\n")
        return Sample(
            "stories", (user(worded(source, POEM_ASKS, x=thing)), assistant(text)), Check("contains", [thing])
        )
    subject = source.any((words.phrase, words.syllables, lambda s: s.one(words.TOPICS)))(source)
    asked = worded(source, HARD_ASKS, x=subject, y=source.one(words.TOPICS))
    return Sample("too hard", (user(asked), assistant(TOO_HARD)), Check("exact", TOO_HARD))
