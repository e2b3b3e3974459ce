"""Things said earlier in the conversation and asked for later."""

from collections.abc import Callable

from tools.tiny.text import facts, identity, words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

Memory = tuple[str, str, str, str]
"""What is told, the reply, the later question and its answer."""


TOLD_NAME = phrases("""My name is {n}. | I am {n}. | Hi, I am {n}. | Hello, my name is {n}. | Call me {n}. |
You can call me {n}. | This is {n}. | I'm {n}. |
People call me {n}. | The name is {n}. | My first name is {n}. | I go by {n}. | They call me {n}. | It is me, {n}. |
Here is {n}. | Remember me, I am {n}. | By the way, my name is {n}. | Please call me {n}. | You are talking to {n}. |
Note my name: {n}. | I have the name {n}. |
Hi there, my name is {n}. | Hello, this is {n}. | Hello, {n} here. | {n} here. | {n} is my name. |
{n} is what people call me. | It's {n}. | It's me, {n}. | My name's {n}. | The name's {n}. | Everybody calls me {n}. |
Everyone calls me {n}. | My friends call me {n}. | My friends know me as {n}. | People know me as {n}. |
At work they call me {n}. | Most people call me {n}. | You may call me {n}. | I am called {n}. | I am named {n}. |
My parents named me {n}. | My parents call me {n}. | I want to be called {n}. | Please remember my name: {n}. |
Please remember that I am {n}. | Remember that my name is {n}. | Remember my name, it is {n}. |
Do not forget my name: {n}. | Do not forget that I am {n}. | Keep in mind that my name is {n}. |
You should know that my name is {n}. | Let me introduce myself: I am {n}. | Let me introduce myself, my name is {n}. |
Let me tell you my name. It is {n}. | I want to introduce myself. I am {n}. | I want to tell you my name: {n}. |
I did not tell you my name yet. It is {n}. | We have not met. I am {n}. | We have not met before. My name is {n}. |
Nice to meet you, I am {n}. | Nice to meet you. My name is {n}. | You are speaking with {n}. |
The person talking to you is {n}. | Name: {n} | My name: {n} | For your information, my name is {n}. |
In case you want to know, I am {n}.""")
ASKED_NAME = phrases("""What is my name? | Who am I? | Do you know my name? | Do you remember my name? |
What am I called? | Tell me my name. | What did I say my name was? | Say my name. |
And my name is? | Can you tell me my name? | Which name do I have? | What name did I give you? | How am I called? |
Do you still know who I am? | Please say my name. | What is the name I told you? | Remind me of my name. |
How did I say I am called? | Who is talking to you? | What is it that people call me? | My name? |
Which name is mine? | Which name did I give you? | Which name did I tell you? | What name did I tell you? |
What name do I have? | What name have I got? | What is the name I gave you? | What was my name? |
What was my name again? | What was the name I told you? | What did I tell you about my name? |
What did I say I am called? | What do people call me? | What do my friends call me? | What should you call me? |
What should I be called? | How do people call me? | How do you call me? | How should you call me? |
By what name do people call me? | By what name do you know me? | By which name do you know me? |
Do you know who I am? | Do you remember who I am? | Do you still know my name? | Do you still remember my name? |
Do you recall my name? | Can you recall my name? | Can you remember my name? | Can you say who I am? |
Could you tell me who I am? | Have you forgotten my name? | Did you forget my name? | Did you remember my name? |
I told you my name. What is it? | I told you my name before. Do you remember it? | I told you who I am. Who am I? |
I gave you my name earlier. What was it? | I said my name before. What is it? | I forgot my name. What is it? |
Tell me what my name is. | Tell me the name I gave you. | Tell me what people call me. | Say the name I told you. |
Write my name. | Give me my name. | Repeat my name. | My name is what? | My name was? | The name I told you? |
I am who? | I am called what? | Address me by my name.""")
TOLD_FAVOURITE = phrases("""My favourite {k} is {v}. | I like the {k} {v} best. |
The {k} I like most is {v}. | {v} is my favourite {k}. | Remember my favourite {k}: {v}. |
For me the best {k} is {v}. |
I love the {k} {v}. | {v} is the best {k}. | The {k} {v} is my favourite. | As for the {k}, I like {v} most. |
My best loved {k} is {v}. | I like {v} more than any other {k}. | No {k} is better than {v}. |
If I choose a {k}, it is {v}. | Among all I like the {k} {v}. | Note: my favourite {k} is {v}. |
The {k} I love is {v}. | The {k} I love most is {v}. | The {k} I love more than all others is {v}. |
The {k} that I like best is {v}. | The {k} that I prefer is {v}. | The {k} I prefer is {v}. | The best {k} is {v}. |
The best {k} for me is {v}. | The best {k} in the world is {v}. | The best {k} of all is {v}, I think. |
I think the best {k} is {v}. | I think {v} is the best {k}. | I think {v} is the best {k} of all. |
I would say my favourite {k} is {v}. | I would say the best {k} is {v}. | I have a favourite {k}: {v}. |
I have a favourite {k}, it is {v}. | I have always liked the {k} {v} best. | I have always loved the {k} {v}. |
I really like the {k} {v}. | I really love the {k} {v}. | I like the {k} {v} more than any other. |
I like no {k} more than {v}. | I love no {k} more than {v}. | I love {v} more than any other {k}. |
I prefer the {k} {v}. | I prefer {v} to any other {k}. | I prefer {v} to every other {k}. |
Of every {k}, I like {v} best. | Of every {k}, {v} is my favourite. | Of every {k} I know, I love {v} most. |
When it comes to my favourite {k}, it is {v}. | If you ask me for the best {k}, it is {v}. |
If you ask for my favourite {k}, I say {v}. | My favourite {k}? It is {v}. | My favourite {k}: {v} |
My favourite {k} has always been {v}. | My favourite {k} of all is {v}. |
You should know my favourite {k}. It is {v}. | Remember that my favourite {k} is {v}. |
Remember that I like the {k} {v} best. | Keep in mind that my favourite {k} is {v}. |
Do not forget my favourite {k}: {v}. | {v} is the {k} I like best. | {v} is the {k} I like most. |
{v} is the {k} I love. | {v} is the {k} I prefer. | {v} is for me the best {k}. |
{v} has always been my favourite {k}.""")
ASKED_FAVOURITE = phrases("""What is my favourite {k}? | Which {k} do I like best? |
What {k} do I like most? | Do you remember my favourite {k}? | Tell me my favourite {k}. |
My favourite {k}? |
And my favourite {k}? | Which {k} is my favourite? | What is the {k} I like best? | Which {k} do I love? |
Name my favourite {k}. | Can you tell me my favourite {k}? | Say my favourite {k}. |
What did I say is my favourite {k}? | Which {k} did I like most? | My best {k} was which one? |
I like which {k} most? |
what {k} do i like best | which {k} do i like | What was my favourite {k}? | What was my favourite {k} again? |
What {k} do I love most? | What {k} do I prefer? | What {k} did I say I like? | What {k} did I say is my favourite? |
What is the {k} I like most? | What is the {k} I love? | What is the {k} I prefer? | What is the best {k} for me? |
What is for me the best {k}? | What do I like best as a {k}? | What did I tell you about my favourite {k}? |
What did I say about my favourite {k}? | Which {k} do I love most? | Which {k} do I prefer? |
Which {k} do I like more than any other? | Which {k} is the best for me? | Which {k} is the one I like best? |
Which {k} is the one I love? | Which {k} did I say I like best? | Which {k} did I say I prefer? |
Which {k} was my favourite? | Which one is my favourite {k}? | Do you know my favourite {k}? |
Do you know which {k} I like best? | Do you know what {k} I prefer? | Do you remember which {k} I like best? |
Do you remember the {k} I love? | Do you still know my favourite {k}? | Do you still remember my favourite {k}? |
Can you remember my favourite {k}? | Can you say which {k} I like most? | Did you remember my favourite {k}? |
Have you forgotten my favourite {k}? | I told you my favourite {k}. What is it? |
I told you my favourite {k} before. Which one is it? | I told you which {k} I like best. Which one? |
I have a favourite {k}. Do you remember it? | I have a favourite {k}. Which one? |
I like one {k} best. Which one is it? | Tell me which {k} I like best. | Tell me which {k} I prefer. |
Tell me what {k} I love most. | Name the {k} I like best. | Name the {k} I love most. |
Say which {k} is my favourite. | Remind me of my favourite {k}. | Remind me which {k} I like best. |
Repeat my favourite {k}. | My favourite {k} is what? | My favourite {k} was? | My favourite {k} is which one? |
The {k} I like best? | The {k} I love most is which one?""")
TOLD_CODE = phrases("""The {k} is {v}. | Remember the {k} {v}. | My {k} is {v}. |
Please remember the {k}: {v}. | Keep this {k}: {v}. | The {k} is {v}, do not forget it. |
Note the {k}: {v}. | {v} is the {k}. | Our {k} is {v}. | Here is the {k}: {v}. | Do not forget the {k} {v}. |
I give you the {k}: {v}. | The new {k} is {v}. | Store the {k} {v}. | This is the {k}: {v}. | You need the {k} {v}. |
Memorize the {k}: {v}. | For later: the {k} is {v}. |
{k}: {v} | {k} = {v} | The {k}: {v} | My {k}: {v} | My {k} is {v}, please remember it. | My new {k} is {v}. |
My own {k} is {v}. | The right {k} is {v}. | The {k} is now {v}. | The {k} is {v}, keep it. |
The {k} is {v}. Please remember it. | The {k} is {v}. Keep it for later. | The {k} you need is {v}. |
The {k} for today is {v}. | The {k} has changed. It is now {v}. | The {k} that you must remember is {v}. |
This is my {k}: {v}. | This is the new {k}: {v}. | This is important: the {k} is {v}. | Here is my {k}: {v}. |
Here is the new {k}: {v}. | Here is a {k} for you: {v}. | They gave me the {k} {v}. | They told me the {k}: {v}. |
I have the {k} {v}. | I have a {k}: {v}. | I got the {k} {v}. | I got a new {k}: {v}. | I was given the {k} {v}. |
I chose the {k} {v}. | I use the {k} {v}. | I tell you the {k}: it is {v}. | I will tell you the {k}. It is {v}. |
Let me tell you the {k}: {v}. | Let me give you my {k}: {v}. | You should know the {k}: {v}. |
You should remember the {k} {v}. | You must remember the {k}: {v}. | You must not forget the {k} {v}. |
Keep in mind that the {k} is {v}. | Keep in mind my {k}: {v}. | Keep the {k} {v} for later. |
Remember that the {k} is {v}. | Remember that my {k} is {v}. | Remember my {k}, it is {v}. |
Please remember my {k}: {v}. | Please keep the {k} {v} for me. | Please note that the {k} is {v}. |
Please note my {k}: {v}. | Do not forget that the {k} is {v}. | Do not forget my {k}, it is {v}. |
Never forget the {k}: {v}. | Write down the {k}: {v}. | Write down that the {k} is {v}. | Save the {k} {v}. |
Save this {k} for later: {v}. | Memorize that the {k} is {v}. | {v} is my {k}. | {v} is the new {k}. |
{v} is the {k} to remember. | As {k} we have {v}. | For your information, the {k} is {v}.""")
ASKED_CODE = phrases("""What is the {k}? | What was the {k}? | Tell me the {k}. | Do you remember the {k}? |
The {k}, please. | Which {k} did I tell you? | Give me the {k}. |
And the {k}? | What is my {k}? | Can you tell me the {k}? | I forgot the {k}. | Which is the {k}? |
Say the {k} again. | I need the {k}. | Do you still know the {k}? | Remind me of the {k}. | What {k} did I give you? |
Repeat the {k}. | The {k} was? | Please give me the {k} again. |
What was my {k}? | What was the {k} again? | What was the {k} I gave you? | What was the {k} that I told you? |
What is the {k} I gave you? | What is the {k} I told you? | What is the {k} you remember? | What is the right {k}? |
What {k} did I tell you? | What {k} did I tell you to remember? | What {k} do I have? | What {k} have I given you? |
What did I say the {k} is? | What did I say the {k} was? | What did I tell you about the {k}? |
Which {k} did I give you? | Which {k} did I say? | Which {k} do I have? | Which {k} do I need? |
Which {k} should you remember? | Which {k} is it? | Which {k} was it? | Do you know the {k}? | Do you know my {k}? |
Do you remember my {k}? | Do you remember which {k} I gave you? | Do you still remember the {k}? |
Do you still have the {k}? | Do you have the {k} for me? | Do you recall the {k}? | Can you recall the {k}? |
Can you remember the {k}? | Can you give me my {k} again? | Can I have the {k}? | Can I have the {k} again? |
Could you tell me the {k} again? | Have you kept the {k}? | Did you remember the {k}? | Did you keep the {k}? |
I gave you the {k}. What was it? | I gave you a {k}. Which one? | I told you the {k}. What is it? |
I told you a {k}. What was it? | I forgot my {k}. What is it? | I have forgotten the {k}. Can you tell me? |
I don't remember the {k}. | I do not remember the {k}. What is it? | I lost the {k}. Do you know it? |
I need my {k} now. | I need the {k} again. | I need to know the {k}. | They ask me for the {k}. What is it? |
Tell me my {k}. | Tell me which {k} I gave you. | Say the {k}. | Say my {k}. | Give me my {k}. | Write the {k}. |
Remind me what the {k} is. | Remind me of my {k}. | My {k}, please. | The {k} I gave you? | The {k} is what? |
And my {k} was?""")
TOLD_HOME = phrases("""I live in {c}. | I am from {c}. | My home is {c}. | I come from {c}. |
I moved to {c}. | My home town is {c}. |
I am living in {c}. | {c} is my home. | My house is in {c}. | I grew up in {c}. | My flat is in {c}. |
We live in {c}. | I have lived in {c} for years. | You find me in {c}. | I am at home in {c}. | My city is {c}. |
I call {c} my home. |
I am from the city of {c}. | I live in the city of {c}. | I live in {c} with my family. | I live in a flat in {c}. |
I live in a house in {c}. | I live and work in {c}. | I have a house in {c}. | I have a flat in {c}. |
I have my home in {c}. | I have always lived in {c}. | I have been living in {c} for ten years. |
I just moved to {c}. | I moved to {c} last year. | I have moved to {c}. | I come from the city of {c}. |
I came to live in {c}. | I settled in {c}. | I was born in {c} and still live there. | I reside in {c}. |
My home is in {c}. | My home is the city of {c}. | My home city is {c}. | My town is {c}. | My house stands in {c}. |
My family and I live in {c}. | My family lives in {c}, and so do I. | My family moved to {c} with me. |
My flat is in the city of {c}. | My address is in {c}. | The city I live in is {c}. | The city where I live is {c}. |
The town I come from is {c}. | The place where I live is {c}. | The place I call home is {c}. | We moved to {c}. |
We have a house in {c}. | We are from {c}. | We have lived in {c} for a long time. |
You should know that I live in {c}. | You can visit me in {c}, where I live. | Remember that I live in {c}. |
Remember that I am from {c}. | Remember my home: {c}. | Keep in mind that I live in {c}. |
Do not forget that I live in {c}. | For years I have lived in {c}. | At the moment I live in {c}. |
These days I live in {c}. | Home for me is {c}. | Home: {c} | {c} is where I live. | {c} is where I come from. |
{c} is where my home is. | {c} is the city I live in. | {c} is my home town. | {c} is my city. |
In {c} I am at home.""")
ASKED_HOME = phrases("""Where do I live? | Which city do I live in? | Where is my home? |
What is my home town? | Where am I from? | Do you know where I live? |
Where do I come from? | What city am I from? | In which city do I live? | Which city is my home? |
Where is my house? | Tell me where I live. | What is my city? | Where am I at home? | In what city is my flat? |
Say where I live. | And where do I live? | Which town do I live in? |
Where is home for me? | Where is my flat? | Where is my home town? | Where is the place I call home? |
Where is the place where I live? | Where do I have my home? | Where do I have my house? | Where did I say I live? |
Where did I say I come from? | Where did I say my home is? | Where did I tell you I live? | Where am I living? |
Where would you find my home? | Where can you visit me? | Which city am I from? | Which city am I living in? |
Which city is mine? | Which city did I say I live in? | Which city did I tell you I come from? |
Which city do I call home? | Which town is my home? | Which town am I from? | Which place is my home? |
Which place do I call home? | Which is my home town? | Which is the city where I live? | What is my home city? |
What is the city where I live? | What is the town I live in? | What is the place I call home? |
What city do I live in? | What city do I come from? | What city do I call my home? | What town do I live in? |
What town do I come from? | What place do I come from? | In which city am I at home? | In which city is my home? |
In which city is my house? | In which town do I live? | In which place do I live? | In what city do I live? |
In what city is my house? | From which city do I come? | From what town do I come? | Do you remember where I live? |
Do you remember where I am from? | Do you know where I am from? | Do you know my home town? |
Do you know in which city I live? | Do you still know where I live? | Can you tell me which city I come from? |
Can you remember where my home is? | Can you say where I come from? | Have you forgotten where I live? |
I told you where I live. Where is it? | I told you where I come from. What city is it? |
I told you my city. Which one is it? | I told you about my home. Where is it? | I said where I live. Where was it? |
Tell me where I am from. | Tell me where my home is. | Tell me the city I live in. | Tell me my home town. |
Say in which city I live. | Name the city I live in. | Name my home town. | Remind me where I live. |
My home is where? | My home town? | My city? | I live where? | I live in which city? | I come from where? |
I come from which city? | The city I live in?""")
FAVOURITES = (
    ("colour", words.COLOURS),
    ("animal", words.ANIMALS),
    ("food", words.FOODS),
    ("city", words.CITIES),
    ("topic", words.TOPICS),
)
NEVER_TOLD = "You have not told me."
SECRETS = ("code", "password", "room number", "secret word", "order number")


def _name(source: Source) -> Memory:
    name = words.first_name(source)
    return (
        worded(source, TOLD_NAME, n=name),
        f"Nice to meet you, {name}!",
        worded(source, ASKED_NAME),
        f"Your name is {name}.",
    )


def _favourite(source: Source) -> Memory:
    kind, options = source.any(FAVOURITES)
    value = words.called(source, options)
    return (
        worded(source, TOLD_FAVOURITE, k=kind, v=value),
        "I will remember that.",
        worded(source, ASKED_FAVOURITE, k=kind),
        f"Your favourite {kind} is {value}.",
    )


def _code(source: Source) -> Memory:
    kind = source.any(SECRETS)
    value = words.made_up(source) if kind == "secret word" else words.identifier(source)
    return (
        worded(source, TOLD_CODE, k=kind, v=value),
        "I will remember that.",
        worded(source, ASKED_CODE, k=kind),
        f"The {kind} is {value}.",
    )


def _home(source: Source) -> Memory:
    city = words.city(source)
    return worded(source, TOLD_HOME, c=city), "Good to know.", worded(source, ASKED_HOME), f"You live in {city}."


KINDS: tuple[Callable[[Source], Memory], ...] = (_name, _favourite, _code, _home)


def _at_once(source: Source) -> Sample:
    """Told and asked in one message."""
    statement, _, question, answer = source.any(KINDS)(source)
    return Sample("memory", (user(f"{statement} {question}"), assistant(answer)), Check("exact", answer))


def _subject(answer: str) -> str:
    return answer.split(" is ")[0].split(" in ")[0]


def _never_told(source: Source, told: list[Memory]) -> tuple[str, str]:
    """A question about what nobody said, among it what is like something that was."""
    known = {_subject(answer) for *_, answer in told}
    while True:
        _, _, question, answer = source.any(KINDS)(source)
        if _subject(answer) not in known:
            return question, NEVER_TOLD


def _small_turns(source: Source) -> list[Message]:
    asked, said = source.any((facts.question, identity.small_talk))(source)
    return [user(asked), assistant(said)]


def make_memory(source: Source) -> Sample:
    if source.chance(0.1):
        return _at_once(source)
    told = [kind(source) for kind in source.random.sample(KINDS, source.any((0, 1, 2, 3, 4, 1, 2, 3, 4)))]
    turns: list[Message] = [system(source.one(identity.SYSTEMS))] if source.chance(0.3) else []
    for statement, reply, _, _ in told:
        turns += [user(statement), assistant(reply)]
        turns += _small_turns(source) if source.chance(0.3) else []
    asked = [(question, answer) for _, _, question, answer in told]
    asked = source.random.sample(asked, source.integer(min(1, len(asked)), len(asked)))
    if not told:
        turns += _small_turns(source) if source.chance(0.7) else []
    if not told or source.chance(0.25):
        asked.insert(source.integer(0, len(asked)), _never_told(source, told))
    for question, answer in asked:
        turns += [user(question), assistant(answer)]
    said = asked[-1][1]
    return Sample("never told" if said == NEVER_TOLD else "memory", tuple(turns), Check("exact", said))
