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
A little story: {x} |
story about a {x} | a short story with a {x} | story: {x} | Story about the {x} |
Tell me a story.\nIt should be about a {x}. | Tell me a short story about the {x}. |
Tell me a story with a {x} in it. | Tell me a little story with a {x}. | Tell a story about the {x}. |
Tell a short tale of a {x}. | Tell me the tale of the {x}. | Tell my children a story about a {x}. |
Write a story about the {x}. | Write me a story about a {x}. | Write a little story with a {x} in it. |
Write a tale about a {x}. | Write a short tale with a {x}. | Write a fairy tale about a {x}. |
Write a bedtime story about a {x}. | Write a story for children about a {x}. | A bedtime story about a {x}, please. |
A bedtime story with a {x}. | A fairy tale about a {x}. | A fairy tale with a {x} in it, please. |
A story for children: {x} | A tale of the {x}, please. | A short story about the {x}, please. |
Can you write a story about a {x}? | Can you make up a story with a {x}? | Can you invent a tale about a {x}? |
Can I hear a story about a {x}? | Can I have a bedtime story about a {x}? |
Could you tell me a fairy tale about a {x}? | Do you have a story about a {x} for me? |
Do you know a tale about a {x}? | Do you know a fairy tale with a {x}? | Make up a tale about a {x}. |
Make up a short story with a {x} in it. | Make up a bedtime story about the {x}. | Invent a short story with a {x}. |
Invent a fairy tale about a {x}. | Give me a little story about a {x}. | Give me a tale about a {x}. |
Give me a bedtime story with a {x}. | Let me hear a story about the {x}. | Let me hear a tale of a {x}. |
Read me a bedtime story about a {x}. | Read me a tale of a {x}. | I want a story about a {x}. |
I want to read a story about a {x}. | I would like to hear a tale about a {x}. |
I would like a short story about a {x}. | I need a story with a {x} for my children. | I need a bedtime story: {x} |
I cannot sleep. Tell me a story about a {x}. | My children cannot sleep. Tell a story about a {x}. |
My child wants a story about a {x}. | My child loves the {x}. Tell a story about it. |
It is late. Tell me a bedtime story with a {x}. | Once there was a {x}. Tell the story. |
Once upon a time there was a {x}. Tell me more. | There once was a {x}. Go on with the story. |
Begin a story with a {x}. | Think of a story about a {x}. | Think up a short tale about a {x}. |
Please entertain me with a story about a {x}. | How about a story with a {x}? | How about a tale of a {x}? |
What is the story of the {x}? | The tale of the {x}, please. | The {x}: a story | The {x}: tell me a tale.""")
POEM_ASKS = phrases("""Write a haiku about the {x}. | Write a poem about the {x}. | A haiku about the {x}, please. |
Make a poem about the {x}. | Poem: {x} | Give me a haiku on the {x}. | Can you write a poem about the {x}? |
Write a few lines about the {x}. |
Compose a haiku about the {x}. | Write verses about the {x}. | A poem on the {x}. | Poetry: {x} |
Some lines on the {x}, please. | I want a poem about the {x}. | Make a haiku of the {x}. |
A short poem about the {x}. |
poem about the {x} | haiku: {x} | Haiku about the {x} | A poem about the {x}, please. | A little poem: {x} |
A haiku on the {x}. | A haiku for the {x}, please. | A short haiku: the {x} | A few verses about the {x}, please. |
A few lines of poetry about the {x}. | A few poetic lines on the {x}. | Some verses on the {x}. |
Some poetry about the {x}, please. | Three lines about the {x}, please. | Three lines of poetry: {x} |
Verses on the {x}, please. | Write me a poem about the {x}. | Write me a haiku: {x} | Write a haiku on the {x}. |
Write a short poem about the {x}. | Write a little poem on the {x}. | Write a poem for the {x}. |
Write a poem: the {x} | Write some poetry about the {x}. | Write some verses about the {x}. |
Write three lines about the {x}. | Write a poem with the {x} in it. | Write a few verses on the {x}. |
Make a little poem about the {x}. | Make a poem on the {x}. | Make me a haiku about the {x}. |
Make up a poem about the {x}. | Make up some verses about the {x}. | Compose a poem about the {x}. |
Compose a short poem on the {x}. | Compose some lines about the {x}. | Compose verses on the {x}. |
Give me a poem about the {x}. | Give me a short poem on the {x}. | Give me some poetry about the {x}. |
Give me three lines on the {x}. | Can you compose a haiku on the {x}? | Can you write some lines about the {x}? |
Could you write me a short poem about the {x}? | Could you make a haiku about the {x}? |
Do you know a poem about the {x}? | Do you have a haiku about the {x}? |
Do you write poetry? I want a poem on the {x}. | I want a haiku about the {x}. | I want to read a poem about the {x}. |
I would like a haiku about the {x}. | I would like some verses about the {x}. | I need a poem about the {x}. |
I need a short haiku on the {x}. | I love the {x}. Write a poem about it. | I love poetry. Write about the {x}. |
You are a poet. Write about the {x}. | You are a poet. Compose some verses on the {x}. |
Be a poet and write a few lines about the {x}. | Be a poet: the {x} | Let me hear a poem about the {x}. |
Let me read a haiku on the {x}. | Think of a haiku about the {x}. | Think of a poem on the {x}. |
How about a haiku on the {x}? | How about a poem about the {x}? | The {x}: a poem | The {x}: a haiku |
The {x} in three lines of poetry. | The {x} as a poem, please. | The {x} as a haiku.""")
HARD_ASKS = phrases("""Explain how {x} works. | Why is {x} important? | What is {x}? | How does {x} work? |
Explain {x}. |
Write an essay about {x}. | Tell me all about {x}. | What do you think about {x}? | Describe {x} in detail. |
Give me a lecture on {x}. | Teach me {x}. | What is the history of {x}? | How do I learn {x}? | Compare {x} and {y}. |
What is the best {x}? | Write code for {x}. | Who invented {x}? | What is the meaning of {x}? |
What can you tell me about {x}? | Why do people like {x}? | Discuss {x}. | Give me ten facts about {x}. |
Write a book about {x}. | How can I understand {x}? | Is {x} good or bad? | Write a program about {x}. |
What is new in {x}? | Give your opinion on {x}. | What is the theory of {x}? | Explain {x} to a child. |
What will happen to {x}? | When did {x} begin? | Make a plan for {x}. | Write a report on {x}. |
Compare {x} with {y}. | Analyse {x}. | What makes {x} special? |
Explain {x} in detail. | Explain {x} in simple words. | Explain the basics of {x}. | Explain the history of {x}. |
Explain the meaning of {x}. | Explain why {x} is important. | Explain why people like {x}. |
Explain to me how {x} works. | Explain the theory behind {x}. | Explain {x} and {y}. |
Explain the difference between {x} and {y}. | What is the difference between {x} and {y}? |
What is better, {x} or {y}? | What is more important, {x} or {y}? | What is interesting about {x}? |
What is good about {x}? | What is bad about {x}? | What is your opinion on {x}? | What is the future of {x}? |
What is the point of {x}? | What is so special about {x}? | What are the basics of {x}? | What are the rules of {x}? |
What are the problems of {x}? | What are the best books about {x}? | What should I know about {x}? |
What should I read about {x}? | What do I need to learn for {x}? | What do experts say about {x}? |
What do people think about {x}? | What does {x} mean? | What does {x} have to do with {y}? |
What has {x} to do with {y}? | What causes {x}? | What happens in {x}? | What happened in the history of {x}? |
Why is {x} so popular? | Why is {x} so difficult? | Why is {x} better than {y}? | Why do we need {x}? |
Why do people need {x}? | Why does {x} matter? | Why should I learn {x}? | Why was {x} invented? | How did {x} begin? |
How did {x} change the world? | How was {x} invented? | How can I learn {x}? | How can I get better at {x}? |
How do I begin with {x}? | How do experts explain {x}? | How important is {x}? | How difficult is {x}? |
How popular is {x}? | How will {x} change in the future? | How are {x} and {y} related? | Who are the experts on {x}? |
Who wrote the best book about {x}? | Who needs {x}? | When was {x} invented? | Where did {x} begin? |
Is {x} important? | Is {x} difficult to learn? | Is {x} better than {y}? | Is {x} related to {y}? |
Does {x} have a future? | Can you explain {x} to me in detail? | Can you write a report about {x}? |
Can you write a program for {x}? | Could you describe {x}? | Could you help me understand {x}? |
Do you think {x} is good? | Do you understand {x}? | Do you have an opinion about {x}? | Write an essay on {x}. |
Write a long essay about {x} and {y}. | Write a long text about {x}. | Write a long report about {x}. |
Write an article about {x}. | Write an article on the history of {x}. | Write a lecture about {x}. |
Write a speech about {x}. | Write a speech on {x}. | Write a chapter about {x}. | Write a book on {x}. |
Write some code for {x}. | Write a plan for {x}. | Write a detailed plan for {x}. |
Write everything you know about {x}. | Tell me everything about {x}. | Tell me everything you know about {x}. |
Tell me the history of {x}. | Tell me how {x} works. | Tell me why {x} is important. | Tell me your opinion on {x}. |
Tell me what you think about {x}. | Tell me ten facts about {x}. | Teach me the basics of {x}. |
Teach me all about {x}. | Give me an essay on {x}. | Give me a detailed report on {x}. | Give me some advice on {x}. |
Give me your advice about {x}. | Give a speech about {x}. | Give an introduction to {x}. |
An introduction to {x}, please. | An essay on {x}, please. | A lecture on {x}, please. |
A detailed report on {x}, please. | Describe the history of {x}. | Describe the difference between {x} and {y}. |
Discuss the future of {x}. | Discuss {x} and {y}. | Analyse the history of {x}. | Analyse {x} in detail. |
Help me learn {x}. | I want to learn {x}. | I want to learn all about {x}. | I want to understand {x}. |
I want to know everything about {x}. | I want to be an expert on {x}. | I do not understand {x}. Explain it. |
I need an essay about {x}. | I need advice on {x}. | I need a detailed plan for {x}. | I need a program for {x}. |
I have to write an essay on {x}. Write it for me. | I have to give a speech about {x}. Help me. |
I must learn {x}. Where do I begin? | My teacher wants an essay about {x}. | My teacher asks why {x} is important. |
Let us talk about {x}.""")
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
