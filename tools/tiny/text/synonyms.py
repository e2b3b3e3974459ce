"""Other words for the words of a template, and slips of the keyboard, so that many wordings come from one."""

import re

from tools.tiny.text.source import Source

_TABLE = """find = locate, look for, search for, look up, discover
get = fetch, obtain, bring me
show = display, present, let me see
want = wish, desire
need = require, have to have, must have
capital = capital city, seat of government, first city
city = town, place
continent = part of the earth, landmass, part of the globe
colour = shade, tint, hue, color
color = shade, tint, hue, colour
opposite = antonym, contrary, counterpart, contrast
baby = infant, newborn, little
young = baby, offspring, child
called = named, known as, termed
legs = limbs, feet
sound = noise, cry, call
noise = sound, cry, call
symbol = sign, abbreviation, letters, short sign
language = tongue, idiom, speech
spoken = used, talked, heard
material = substance, stuff, matter
made = built, composed, produced, manufactured
workplace = place of work, working place, job site
price = cost, charge, fee, amount
cost = go for, come to
expensive = costly, dear, pricey
job = profession, occupation, trade, career
pet = companion, house animal
animal = creature, beast, pet
place = spot, location, site
room = chamber, space, location
code = secret code, access code, pin, combination
text = passage, paragraph, story, note, article
passage = text, paragraph, excerpt, section
notes = records, remarks, lines
facts = data, details, pieces of information
information = data, details, knowledge
read = study, look at, go through
question = query, request
answer = reply, respond, response
extract = pick out, take out, isolate, pull
fields = entries, properties, attributes, parts
keys = field names, properties, names
write = put down, produce, compose, print
schema = pattern, structure, layout
summarize = condense, abridge, recap, sum up
summarise = condense, abridge, recap, sum up
summary = abstract, recap, digest, outline
short = brief, concise, compact
larger = bigger, greater, higher
bigger = larger, greater, higher
greater = larger, bigger, higher
smaller = lower, lesser, less
lower = smaller, lesser, less
together = combined, altogether, in total, in all
left = remaining, over
items = elements, entries, things, members
last = final, very last
send = dispatch, transmit, deliver, forward
email = mail, e-mail, electronic mail
message = note, line, text
reminder = memo, nudge
timer = countdown, stopwatch
alarm = wake-up call, wake-up alarm
search = look, hunt, browse
convert = change, turn, exchange
calculate = work out, determine, figure out
compute = work out, determine, figure out
buy = purchase, acquire
file = document, record
meeting = appointment, gathering
weather = weather conditions, weather outlook
temperature = warmth, heat
number = figure, count, digits
distance = way, length of the way, kilometres
lights = lamps, lighting
remember = keep in mind, recall, memorise
repeat = echo, say again, copy
reverse = turn around, flip, invert"""
_WORDS: dict[str, tuple[str, ...]] = {
    word: tuple(others.split(", ")) for word, others in (line.split(" = ") for line in _TABLE.split("\n"))
}
# A field in braces, or a word.
_PART = re.compile(r"\{[^}]*\}|[A-Za-z]+")
SHORTEST_MISSPELT = 4


def otherwise(source: Source, template: str) -> str:
    """The template with about half of its known words replaced by others of the same meaning."""

    def other(match: re.Match[str]) -> str:
        word = match.group()
        others = _WORDS.get(word.lower())
        if others is None or source.chance(0.5):
            return word
        chosen = source.any(others)
        return chosen[0].upper() + chosen[1:] if word[0].isupper() else chosen

    return _PART.sub(other, template)


def misspelt(source: Source, template: str) -> str:
    """The template with one letter of one longer word swapped, doubled or left out."""
    places = [m.span() for m in _PART.finditer(template) if m.group()[0] != "{" and len(m.group()) >= SHORTEST_MISSPELT]
    if not places:
        return template
    start, end = source.any(places)
    word, at = template[start:end], source.integer(1, end - start - 2)
    slips = (word[:at] + word[at + 1] + word[at] + word[at + 2 :], word[:at] + word[at:][0] + word[at:])
    slip = source.any((*slips, word[:at] + word[at + 1 :]))
    return template[:start] + slip + template[end:]
