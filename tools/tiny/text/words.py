"""Word lists and makers of words that no list holds."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tokenizers import Tokenizer

from tools.tiny.text.source import Source, part_of


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", " ").split(",") if part.strip())


NAMES = _split("""Anna, Ben, Clara, David, Emma, Felix, Grace, Henry, Iris, Jack, Kate, Leo, Maria, Noah, Olivia, Paul,
Quinn, Rosa, Sam, Tara, Uma, Victor, Wendy, Xavier, Yara, Zoe, Alice, Bob, Carol, Dan, Eve, Frank, Gina, Hugo, Ines,
Jonas, Karl, Lena, Mia, Nina, Oscar, Petra, Ralf, Sara, Tom, Ursula, Vera, Will, Ada, Amir, Aisha, Boris, Chen, Dina,
Elif, Farid, Goran, Hana, Ivan, Jia, Kofi, Lucia, Mateo, Nadia, Omar, Priya, Ravi, Sofia, Tariq, Yuki, Zara, Marcus,
Julia, Peter, Laura, Simon, Helen, Martin, Diana, George, Nora, Oliver, Ruth, Stefan, Teresa, Vincent, Astrid, Bjorn,
Camila, Diego, Erik, Fatima, Gustav, Heidi, Igor, Jasmin, Kamil, Linus, Monika, Nils, Otto, Pavel, Renata, Sven,
Tina""")

SURNAMES = _split("""Smith, Keller, Brown, Novak, Garcia, Rossi, Larsen, Tanaka, Silva, Weber, Dubois, Costa,
Meyer, Singh,
Khan, Lopez, Murphy, Walker, Young, Hill, Baker, Carter, Turner, Cooper, Fischer, Schmidt, Moreau, Petrov, Kim, Park,
Ito, Sato, Wang, Zhou, Ahmed, Hassan, Okafor, Mensah, Jensen, Berg, Virtanen, Popescu, Horvat, Kowalski""")

CITIES = _split("""Paris, London, Berlin, Madrid, Rome, Vienna, Oslo, Lisbon, Athens, Dublin, Prague, Warsaw, Zurich,
Geneva, Tokyo, Kyoto, Osaka, Seoul, Beijing, Shanghai, Delhi, Mumbai, Cairo, Nairobi, Lagos, Accra, Tunis, Toronto,
Montreal, Vancouver, Chicago, Boston, Denver, Seattle, Austin, Dallas, Miami, New York, San Francisco, Los Angeles,
Mexico City, Lima, Bogota, Santiago, Buenos Aires, Rio de Janeiro, Sydney, Melbourne, Perth, Auckland, Helsinki,
Stockholm, Copenhagen, Amsterdam, Brussels, Hamburg, Munich, Cologne, Milan, Naples, Turin, Venice, Lyon, Nice,
Marseille, Porto, Seville, Valencia, Barcelona, Krakow, Budapest, Bucharest, Sofia, Belgrade, Zagreb, Istanbul, Ankara,
Dubai, Doha, Tehran, Baghdad, Jakarta, Manila, Bangkok, Hanoi, Singapore, Kuala Lumpur, Hong Kong, Cape Town,
Casablanca, Dakar, Havana, Quito, La Paz, Montevideo, Reykjavik, Tallinn, Riga, Vilnius, Kyiv, Minsk, Tbilisi, Yerevan,
Bristol, Leeds, Glasgow, Cardiff, Bern, Basel, Graz, Ghent, Utrecht, Bergen, Malmo, Gdansk, Brno, Split, Nantes""")

COUNTRIES = _split("""France, Spain, Italy, Germany, Austria, Norway, Sweden, Finland, Poland, Greece, Turkey, Egypt,
Kenya, Ghana, India, China, Japan, Brazil, Peru, Chile, Canada, Mexico, Ireland, Iceland, Denmark, Portugal""")

COLOURS = _split("""red, blue, green, yellow, black, white, orange, purple, pink, brown, grey, silver, golden, violet,
turquoise, crimson, beige, navy, olive, scarlet, amber, ivory, teal, magenta""")

ANIMALS = _split("""dog, cat, horse, rabbit, fox, owl, bear, wolf, lion, tiger, otter, hamster, parrot, turtle, goat,
sheep, duck, goose, frog, mouse, donkey, camel, panda, koala, eagle, raven, swan, lizard, beaver, badger""")

OBJECTS = _split("""key, book, lamp, chair, table, bottle, cup, box, bag, clock, mirror, pen, letter, map, phone,
camera,
watch, ring, coat, hat, scarf, umbrella, ladder, hammer, rope, basket, candle, guitar, violin, drum, pillow, blanket,
suitcase, ticket, wallet, notebook, radio, bicycle, kettle, spoon, vase, statue, coin, flag, knife, shovel, lantern""")

FOODS = _split("""bread, apple, milk, cheese, rice, soup, pizza, pasta, salad, banana, orange, lemon, potato, tomato,
onion, carrot, butter, honey, coffee, tea, cake, cookie, egg, fish, chicken, bean, mushroom, pepper, garlic, grape,
peach, pear, plum, cherry, melon, yogurt, sugar, salt, flour, oil, chocolate, noodle, spinach, cucumber, pumpkin""")

PLACES = _split("""kitchen, garden, garage, office, attic, cellar, library, hall, bedroom, bathroom, school, park,
station,
museum, market, bakery, harbour, tower, barn, church, hotel, theatre, hospital, airport, forest, beach, bridge, castle,
factory, workshop, balcony, studio, cabin, warehouse""")

JOBS = _split("""teacher, doctor, baker, pilot, nurse, farmer, painter, lawyer, singer, driver, engineer, gardener,
chef,
writer, tailor, plumber, dentist, librarian, carpenter, actor, sailor, butcher, waiter, judge, chemist, mechanic,
photographer, programmer, designer, architect""")

ADJECTIVES = _split("""big, small, old, new, bright, dark, quiet, loud, heavy, light, warm, cold, soft, hard,
round, flat,
clean, dusty, broken, shiny, empty, full, cheap, tall, short, wide, narrow, rough, smooth, strange, simple, modern""")

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
MONTHS = _split("""January, February, March, April, May, June, July, August, September, October, November, December""")

SKIES = _split("""sunny, cloudy, rainy, windy, snowy, foggy, clear, stormy, overcast, partly cloudy, light rain, heavy
rain, drizzle, hazy, thunderstorms, misty, humid, mostly sunny, scattered clouds, icy""")

TOPICS = _split("""history, music, space, cooking, football, chess, gardening, physics, biology, poetry, travel, money,
health, robots, painting, cinema, dinosaurs, volcanoes, oceans, mountains, trains, bicycles, bridges, castles, tea,
energy, climate, birds, insects, mathematics, photography, fashion, medicine, law, tennis, sailing, politics, art""")

ACTIVITIES = _split("""buy milk, call mom, feed the cat, water the plants, pay the rent, clean the car,
book a table, send
the report, walk the dog, wash the dishes, fix the bike, read the contract, order paper, pick up the parcel, renew the
passport, call the bank, charge the laptop, visit the dentist, pack the bags, sign the form, update the slides, cancel
the order, review the budget, plan the trip, bake a cake, return the books, check the oven, print the tickets, meet the
lawyer, test the backup, empty the bin, paint the fence, write the letter, train for the race, practise the piano""")

EVENTS = _split("""meeting, lunch, dinner, call, interview, workshop, lecture, concert, party, training, review,
briefing,
demo, presentation, appointment, conference, rehearsal, seminar, tour, exam, picnic, wedding, match""")

LANGUAGES = _split("""English, French, German, Spanish, Italian, Dutch, Polish, Turkish, Greek, Arabic, Hindi, Chinese,
Japanese, Korean, Swedish, Danish, Finnish, Czech, Russian, Portuguese""")

CURRENCIES = _split(
    "USD, EUR, GBP, JPY, CHF, SEK, NOK, DKK, CAD, AUD, INR, CNY, BRL, MXN, PLN, CZK, TRY, ZAR, KRW, SGD"
)

COMMON = tuple(sorted({*COLOURS, *ANIMALS, *OBJECTS, *FOODS, *PLACES, *ADJECTIVES, *TOPICS}))

_LISTS = (NAMES, SURNAMES, CITIES, COUNTRIES, JOBS, LANGUAGES, COMMON, ACTIVITIES, EVENTS, SKIES)
MADE_UP_PART, MADE_UP_PART_TRAINED = 0.22, 0.4
_TOKENIZER = Path(__file__).parents[1] / "tokenizer.json"


def _known() -> frozenset[str]:
    return frozenset(word.lower() for items in _LISTS for item in items for word in (item, *item.split()))


def _trained() -> tuple[str, ...]:
    """The single words of the lists that are trained on, sorted, from which fragments are cut."""
    found = {word.lower() for items in _LISTS for item in part_of(items, "train") for word in item.split()}
    return tuple(sorted(word for word in found if len(word) > 3))


_KNOWN, _TRAINED = _known(), _trained()
_ONSETS = (
    "b",
    "d",
    "f",
    "g",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "w",
    "z",
    "br",
    "st",
    "tr",
    "ch",
    "sh",
    "",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_CODAS = ("", "", "", "n", "r", "l", "s", "t", "m", "nd", "rk", "x")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def syllables(source: Source, low: int = 2, high: int = 3) -> str:
    """A pronounceable word that stands in no list, such as `tromel`."""

    def make() -> str:
        count = source.integer(low, high)
        return "".join(source.any(_ONSETS) + source.any(_VOWELS) + source.any(_CODAS) for _ in range(count))

    return source.fresh(make)


def fragments(source: Source) -> str:
    """A word in no list, joined from pieces of known words (`copelio`), with tokens as odd as an unseen word's."""

    def make() -> str:
        pieces: list[str] = []
        for _ in range(source.any((1, 2, 2, 3))):
            word = source.any(_TRAINED)
            start = source.integer(0, len(word) - 3)
            pieces.append(word[start : start + source.integer(2, 5)])
        text = "".join(pieces)
        return text if len(text) > 2 and text not in _KNOWN else "qu" + text + "o"

    return source.fresh(make)


@cache
def _tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(_TOKENIZER))


def _tokens(word: str) -> list[str]:
    """The tokens of a word before a space."""
    return [token.removesuffix("Ġ") for token in _tokenizer().encode(word + " ").tokens]


@cache
def _pieces() -> tuple[str, ...]:
    """The tokens that are made of letters."""
    found = {token.removesuffix("Ġ") for token in _tokenizer().get_vocab()}
    return tuple(sorted(token for token in found if token.isascii() and token.isalpha()))


@cache
def _scarce() -> tuple[str, ...]:
    """Those that no trained word of the lists has."""
    common = {token for word in _TRAINED for form in (word, word.capitalize()) for token in _tokens(form)}
    return tuple(token for token in _pieces() if token not in common)


def of_tokens(source: Source) -> str:
    """A word in no list, joined from tokens (`scarpell`), any as likely as another.

    A token that is never learned as part of an answer is learned never to be one, and no word with it can be copied.
    """

    def make() -> str:
        text = "".join(source.any(_pieces()).lower() for _ in range(source.any((2, 2, 3))))
        return text if 2 < len(text) < 16 and text not in _KNOWN else "qu" + text[:12] + "o"

    return source.fresh(make)


def of_a_scarce_token(source: Source) -> str:
    """A word in no list with a token that trained words lack (`backupen`): such are the tokens of unseen words."""

    def make() -> str:
        while True:
            token = source.any(_scarce())
            other = source.any(source.any((_scarce(), _pieces()))).lower()
            text = source.any((token, token + other, other + token))
            if 2 < len(text) < 16 and text.lower() not in _KNOWN and token in _tokens(text):
                return text

    return source.fresh(make)


def made_up(source: Source) -> str:
    if source.split == "train" and source.chance(0.7):
        return of_tokens(source) if source.chance(0.35) else of_a_scarce_token(source)
    return fragments(source) if source.chance(0.7) else syllables(source)


_LINKS = (
    *("a", "an", "the", "my", "our", "this", "these", "to", "for", "with", "in", "into", "up", "of", "and", "or", "by"),
    *("from", "on", "at", "as", "if", "when", "how", "what", "which", "who", "where", "you", "me", "I", "he", "they"),
    *("is", "are", "was", "has", "have", "be", "do", "does", "can", "could", "would", "not", "one", "there", "that"),
)


def little_word(source: Source) -> str:
    """A name that is a function word to the tokenizer (`Has`), with tokens that nothing else has: `H` and `as `.

    They were never part of an answer, so that a person called so became `Hable`.
    """

    def make() -> str:
        while True:
            word = source.any(_LINKS)
            if len(word) > 2 and word not in _KNOWN and word != "the":
                return word.capitalize()

    return source.fresh(make)


def listed(source: Source, items: Sequence[str]) -> str:
    """One item of this split's part of a list, or a made-up word in its place."""
    if source.chance(MADE_UP_PART_TRAINED if source.split == "train" else MADE_UP_PART):
        if items[0][0].isupper() and source.split == "train" and source.chance(0.08):
            return little_word(source)
        word = made_up(source)
        return word.capitalize() if items[0][0].isupper() else word
    return source.one(items)


def called(source: Source, items: Sequence[str]) -> str:
    """As `listed`; one in twelve of those trained on have a strange word before it, as `town hall` has to the model.

    Such a word was left out of the answer when the one behind it was known: strange ones stood alone or last.
    """
    name = listed(source, items)
    if source.split == "heldout" or not source.chance(0.08):
        return name
    word = made_up(source)
    return f"{word.capitalize() if items[0][0].isupper() else word} {name}"


def identifier(source: Source) -> str:
    """An order number, room, code or the like: `K7-204`, `INV88`, `x4f9`."""

    def digits(count: int) -> str:
        return "".join(source.any("0123456789") for _ in range(count))

    def letters(count: int) -> str:
        text = "".join(source.any(_LETTERS) for _ in range(count))
        return text.upper() if source.chance(0.7) else text

    def make() -> str:
        shape = source.integer(0, 4)
        if shape == 0:
            return letters(source.integer(1, 3)) + digits(source.integer(1, 4))
        if shape == 1:
            return letters(source.integer(1, 3)) + "-" + digits(source.integer(2, 4))
        if shape == 2:
            return digits(source.integer(3, 6))
        if shape == 3:
            return letters(1) + digits(1) + letters(1) + digits(1)
        return letters(source.integer(3, 5))

    return source.fresh(make)


def first_name(source: Source) -> str:
    return listed(source, NAMES)


def full_name(source: Source) -> str:
    return f"{first_name(source)} {listed(source, SURNAMES)}"


def city(source: Source) -> str:
    name = called(source, CITIES)
    return f"{name} {made_up(source).capitalize()}" if source.split == "train" and source.chance(0.1) else name


def thing(source: Source) -> str:
    return called(source, OBJECTS)


def phrase(source: Source) -> str:
    """One to four common words; trained on with up to seven, half of them made up.

    With few made-up words that stood alone, a phrase of unseen words was copied up to its first or second one. Some
    begin as questions do: `Will the`, whose tokens no other word has, was never part of an answer.
    """
    longest, strange = (7 if source.varied else 4), (0.5 if source.split == "train" else MADE_UP_PART / 2)
    chosen = source.some(COMMON, source.integer(1, longest))
    said = [made_up(source) if source.chance(strange) else word for word in chosen]
    if source.split == "train" and source.chance(0.1):
        said.insert(0, source.any(_OPENERS))
    return _linked(source, said) if source.split == "train" and source.chance(0.25) else " ".join(said)


_OPENERS = ("Will", "Will", "Would", "Can", "Could", "Shall", "Does", "Did", "Is", "Are", "Has", "What", "Where", "Who")
_LITTLE = ("a", "the", "my", "to", "for", "with", "in", "up", "of", "and")


def _linked(source: Source, said: list[str]) -> str:
    """Words with little ones between them, at neither end: there they would be what comes before or after it."""
    parts = said[:1]
    for word in said[1:]:
        if source.chance(0.5):
            parts.append(source.any(_LINKS))
        parts.append(word)
    return " ".join(parts)


def activity(source: Source) -> str:
    """Something to be done, as `book a table`; half of those trained on are made up, with little words between."""
    if source.split == "heldout" or source.chance(0.5):
        return source.one(ACTIVITIES)
    chosen: list[str] = []
    for _ in range(source.integer(1, 3)):
        chosen.append(made_up(source))
        if source.chance(0.7):
            chosen.append(source.any(_LITTLE))
    chosen.append(made_up(source) if source.chance(0.5) else source.one(COMMON))
    return " ".join(chosen)


def email(source: Source) -> str:
    host = syllables(source) if source.chance(0.5) else source.any(("example", "mail", "post", "office", "home"))
    return f"{first_name(source).lower()}@{host}.{source.any(('com', 'org', 'net'))}"


def clock(source: Source) -> str:
    return f"{source.integer(0, 23):02d}:{source.any((0, 15, 30, 45, source.integer(0, 59))):02d}"


def date(source: Source) -> str:
    return f"20{source.integer(20, 39)}-{source.integer(1, 12):02d}-{source.integer(1, 28):02d}"


def joined(items: list[str], last: str = "and") -> str:
    """`a`, `a and b` or `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"
