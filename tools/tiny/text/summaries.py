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
Summarize in one sentence: {t} | {t}\nIn short? | Cut this down: {t}""")


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
