"""Short summaries: of two or three sentences about a person or thing, the sentence that names it all."""

from tools.tiny.text import words
from tools.tiny.text.sample import Check, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

ASKS = phrases("""Summarize: {t} | Summarise this: {t} | Give a short summary: {t} | Sum up: {t} |
{t}\nSummarize this. | Make it short: {t} | {t}\nIn one sentence, please. | Short version: {t} |
Shorten this: {t} | Please summarize the text: {t} | What is this about? {t} | TL;DR: {t}""")


def _trip(source: Source) -> tuple[str, str]:
    name, city, thing = words.first_name(source), words.city(source), source.one(words.OBJECTS)
    month, sky = source.one(words.MONTHS), source.one(words.SKIES)
    return (
        f"In {month}, {name} travelled to {city}. The weather was {sky}. {name} bought a {thing} there.",
        f"{name} went to {city} and bought a {thing}.",
    )


def _meeting(source: Source) -> tuple[str, str]:
    first, second = words.first_name(source), words.first_name(source)
    event, topic, day = source.one(words.EVENTS), source.one(words.TOPICS), source.any(words.WEEKDAYS)
    return (
        f"On {day} there was a {event}. {first} and {second} were there. They talked about {topic} for a long time.",
        f"{first} and {second} talked about {topic} on {day}.",
    )


def _lost(source: Source) -> tuple[str, str]:
    name, thing, place = words.first_name(source), source.one(words.OBJECTS), source.one(words.PLACES)
    return (
        f"{name} was looking for a {thing}. It was not easy to find. In the end it was in the {place}.",
        f"{name} found the {thing} in the {place}.",
    )


def _sale(source: Source) -> tuple[str, str]:
    shop, item, price = words.syllables(source).capitalize(), source.one(words.FOODS), source.integer(2, 99)
    return (
        f"{shop} is a small shop. It sells {item}, and many people like it. The price is {price} euros.",
        f"{shop} sells {item} for {price} euros.",
    )


def make_summary(source: Source) -> Sample:
    text, short = source.any((_trip, _meeting, _lost, _sale))(source)
    return Sample("summaries", (user(source.fill(ASKS, t=text)), assistant(short)), Check("exact", short))
