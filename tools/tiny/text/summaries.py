"""Short summaries: of two or three sentences about a person or thing, the sentence that names it all."""

from tools.tiny.text import words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

ASKS = phrases("""Summarize: {t} | Summarise this: {t} | Give a short summary: {t} | Sum up: {t} |
{t}\nSummarize this. | Make it short: {t} | {t}\nIn one sentence, please. | Short version: {t} |
Shorten this: {t} | Please summarize the text: {t} | What is this about? {t} | TL;DR: {t} |
The short form: {t} | {t}\nSummary, please. | Summary of this: {t} | In short: {t} | What happens here? {t} |
Say it shorter: {t} | One sentence for this: {t} | {t}\nMake that one sentence. | Boil this down: {t} |
Give me the main point: {t} | {t}\nWhat is the main point? | Tell me briefly what this says: {t} | Condense: {t} |
Summarize in one sentence: {t} | {t}\nIn short? | Cut this down: {t} |
Summarize the following: {t} | Summarize the following text.\n\n{t} | Summarize this text in one sentence.\n{t} |
Summarize this for me: {t} | Summarize what happens: {t} | Summarize: "{t}" | Summarise: {t} |
Summarise the text in a few words: {t} | Summarise in one sentence: {t} | summarize this\n{t} | summary: {t} |
Summary in one sentence: {t} | A summary of this, please: {t} | A short summary, please: {t} |
A summary in one sentence: {t} | Write a summary: {t} | Write a short summary of this.\n{t} |
Write a one-sentence summary: {t} | Write this shorter: {t} | Write this in one sentence: {t} |
Write the main point in one sentence: {t} | Give a summary of the text.\n\n{t} | Give me a summary: {t} |
Give me a short version of this: {t} | Give me the short version: {t} | Give me this text in one sentence: {t} |
Give the main point of this text: {t} | Make a summary: {t} | Make a summary of this text.\n{t} |
Make this shorter: {t} | Make this text short: {t} | Make one sentence of this: {t} | Make a short version: {t} |
Can you summarize this text for me?\n{t} | Can you sum this up? {t} | Can you sum up the text in one sentence? {t} |
Can you say this in one sentence? {t} | Can you tell me the main point? {t} | Could you shorten this text? {t} |
I need a summary of this: {t} | I need this shorter: {t} | I need the main point of this text: {t} |
I want a short summary: {t} | I want this in one sentence: {t} | I have no time to read this. Sum it up: {t} |
I have no time. What does this say? {t} | I have no time. What is the main point? {t} |
This is too long. Shorten it: {t} | This is too long for me. Summarize it: {t} |
This text is too long. Make it short.\n{t} | Too long. In one sentence, please: {t} | Sum it up in one sentence: {t} |
Sum up the following.\n{t} | Please sum up this text: {t} | Shorten: {t} | Shorten the text: {t} |
Shorten it to one sentence: {t} | Shorter, please: {t} | Say it in one sentence: {t} | Say this in short: {t} |
Say briefly what happens: {t} | Tell me in one sentence what happens: {t} | Tell me in short what this says: {t} |
What is the main point of this? {t} | What is this text about? {t} | What does this say in short? {t} |
What does this text say? In one sentence, please.\n{t} | What happens in this text? {t} |
What happened? In short: {t} | What is the short version of this? {t} | What is the point? {t} |
Condense this text: {t} | Condense this to one sentence: {t} | Cut this text down to one sentence: {t} |
Boil the text down to one sentence: {t} | Reduce this to one sentence: {t} | Reduce to the main point: {t} |
In one sentence: {t} | In one sentence, what happens here? {t} | In short, what is this about? {t} |
In short, what does this say? {t} | One sentence summary: {t} | The main point of this: {t} |
The short version, please: {t} | Briefly: {t} | Read this and summarize it: {t} |
Read this and tell me the main point.\n{t} | Text: {t}\nSummary: | Text: {t}\nSummarize the text. |
Text: {t}\nMake it shorter. | {t}\n\nTL;DR | {t}\nSum it up. | {t}\nSum this up in one sentence. |
{t}\nSummarize the text above. | {t}\nCan you summarize this? | {t}\nCan you make that shorter? |
{t}\nShorter, please. | {t}\nMake this shorter. | {t}\nShorten this. | {t}\nShort version? |
{t}\nGive me a short summary. | {t}\nWhat is this about? | {t}\nWhat happened, in short? |
{t}\nTell me the main point. | {t}\nSay that in one sentence.""")


def _trip(source: Source) -> tuple[str, str]:
    name, city, thing = words.first_name(source), words.city(source), words.listed(source, words.OBJECTS)
    month, sky = source.one(words.MONTHS), words.listed(source, words.SKIES)
    return (
        f"In {month}, {name} travelled to {city}. The weather was {sky}. {name} bought a {thing} there.",
        f"{name} went to {city} and bought a {thing}.",
    )


def _meeting(source: Source) -> tuple[str, str]:
    first, second = words.first_name(source), words.first_name(source)
    event, topic, day = (
        words.listed(source, words.EVENTS),
        words.listed(source, words.TOPICS),
        source.any(words.WEEKDAYS),
    )
    return (
        f"On {day} there was a {event}. {first} and {second} were there. They talked about {topic} for a long time.",
        f"{first} and {second} talked about {topic} on {day}.",
    )


def _lost(source: Source) -> tuple[str, str]:
    name, thing, place = (
        words.first_name(source),
        words.listed(source, words.OBJECTS),
        words.listed(source, words.PLACES),
    )
    return (
        f"{name} was looking for a {thing}. It was not easy to find. In the end it was in the {place}.",
        f"{name} found the {thing} in the {place}.",
    )


def _sale(source: Source) -> tuple[str, str]:
    shop, item, price = words.syllables(source).capitalize(), words.listed(source, words.FOODS), source.integer(2, 99)
    return (
        f"{shop} is a small shop. It sells {item}, and many people like it. The price is {price} euros.",
        f"{shop} sells {item} for {price} euros.",
    )


def make_summary(source: Source) -> Sample:
    text, short = source.any((_trip, _meeting, _lost, _sale))(source)
    return Sample("summaries", (user(worded(source, ASKS, t=text)), assistant(short)), Check("exact", short))
