"""About three hundred facts, each asked in many ways. What is held out here is the wording, not the fact."""

from dataclasses import dataclass

from tools.tiny.text import fact_questions
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases


@dataclass(frozen=True)
class Relation:
    """Facts of one kind: a subject, its value, the wordings of the question and the sentence of the answer."""

    questions: tuple[str, ...]
    answer: str
    pairs: dict[str, str]


def _pairs(text: str) -> dict[str, str]:
    return dict(part.strip().split(":") for part in text.replace("\n", " ").split(",") if part.strip())


RELATIONS: tuple[Relation, ...] = (
    Relation(
        fact_questions.CAPITAL,
        "The capital of {s} is {v}.",
        _pairs("""France:Paris, Spain:Madrid, Italy:Rome, Germany:Berlin, Austria:Vienna, Norway:Oslo, Sweden:Stockholm,
        Finland:Helsinki, Denmark:Copenhagen, Poland:Warsaw, Portugal:Lisbon, Greece:Athens, Ireland:Dublin,
        Hungary:Budapest, Romania:Bucharest, Bulgaria:Sofia, Serbia:Belgrade, Croatia:Zagreb, Turkey:Ankara,
Egypt:Cairo,
        Kenya:Nairobi, Ghana:Accra, Tunisia:Tunis, Senegal:Dakar, India:New Delhi, China:Beijing, Japan:Tokyo,
        Thailand:Bangkok, Vietnam:Hanoi, Indonesia:Jakarta, Iran:Tehran, Iraq:Baghdad, Peru:Lima, Chile:Santiago,
        Cuba:Havana, Canada:Ottawa, Mexico:Mexico City, Iceland:Reykjavik, Estonia:Tallinn, Latvia:Riga,
        Lithuania:Vilnius, Ukraine:Kyiv, Belgium:Brussels, Switzerland:Bern, Australia:Canberra, Brazil:Brasilia,
        Argentina:Buenos Aires, Russia:Moscow, the United Kingdom:London, the Netherlands:Amsterdam"""),
    ),
    Relation(
        fact_questions.CONTINENT,
        "{s} is in {v}.",
        _pairs("""France:Europe, Spain:Europe, Italy:Europe, Germany:Europe, Norway:Europe, Poland:Europe,
Greece:Europe,
        Egypt:Africa, Kenya:Africa, Ghana:Africa, Tunisia:Africa, Senegal:Africa, India:Asia, China:Asia, Japan:Asia,
        Thailand:Asia, Vietnam:Asia, Iran:Asia, Peru:South America, Chile:South America, Brazil:South America,
        Argentina:South America, Canada:North America, Mexico:North America, Cuba:North America"""),
    ),
    Relation(
        fact_questions.COLOUR,
        "The colour of {s} is {v}.",
        _pairs("""grass:green, snow:white, blood:red, coal:black, the sky:blue, a banana:yellow, a lemon:yellow,
        a carrot:orange, a cherry:red, milk:white, chocolate:brown, the sea:blue, a leaf:green, the sun:yellow,
        a tomato:red, a cucumber:green, a plum:purple, salt:white, a raven:black, a flamingo:pink, an elephant:grey,
        a frog:green, a lobster:red, an orange:orange, a pumpkin:orange"""),
    ),
    Relation(
        fact_questions.OPPOSITE,
        "The opposite of {s} is {v}.",
        _pairs("""hot:cold, big:small, old:new, fast:slow, high:low, light:dark, long:short, up:down, left:right,
open:closed,
        full:empty, wet:dry, hard:soft, rich:poor, early:late, day:night, happy:sad, strong:weak, loud:quiet,
thick:thin,
        clean:dirty, good:bad, near:far, deep:shallow, true:false, begin:end, win:lose, love:hate, always:never,
        inside:outside, wide:narrow, heavy:light, cheap:expensive, young:old, first:last, sweet:sour"""),
    ),
    Relation(
        fact_questions.YOUNG,
        "A young {s} is called a {v}.",
        _pairs("""cat:kitten, dog:puppy, cow:calf, horse:foal, sheep:lamb, goat:kid, pig:piglet, hen:chick,
duck:duckling,
        goose:gosling, bear:cub, lion:cub, deer:fawn, frog:tadpole, swan:cygnet, kangaroo:joey, rabbit:kit,
wolf:pup"""),
    ),
    Relation(
        fact_questions.LEGS,
        "The number of legs of {s} is {v}.",
        _pairs("""a cat:4, a dog:4, a horse:4, a spider:8, an ant:6, a bee:6, a bird:2, a human:2, a hen:2, a crab:10,
        a snake:0, a fish:0, a worm:0, a beetle:6, a cow:4, a scorpion:8, a fly:6, an owl:2"""),
    ),
    Relation(
        fact_questions.SOUND,
        "A {s} says {v}.",
        _pairs("""cat:meow, dog:woof, cow:moo, sheep:baa, duck:quack, pig:oink, hen:cluck, frog:ribbit, lion:roar,
raven:croak,
        bee:buzz, mouse:squeak, horse:neigh, snake:hiss, crow:caw, donkey:hee-haw, wolf:howl,
rooster:cock-a-doodle-doo"""),
    ),
    Relation(
        fact_questions.HOW_MANY,
        "The number is {v}.",
        _pairs("""days are in a week:7, months are in a year:12, hours are in a day:24, minutes are in an hour:60,
        seconds are in a minute:60, grams are in a kilogram:1000, metres are in a kilometre:1000,
        centimetres are in a metre:100, millimetres are in a centimetre:10, days are in a year:365,
weeks are in a year:52,
        letters are in the alphabet:26, sides has a triangle:3, sides has a square:4, sides has a hexagon:6,
        planets circle the sun:8, strings has a violin:4, strings has a guitar:6, cents are in a euro:100,
        items are in a dozen:12, players are in a football team:11, squares are on a chess board:64,
        bits are in a byte:8, years are in a century:100, years are in a decade:10, seasons has a year:4,
        wheels has a car:4, wheels has a bicycle:2, fingers has a hand:5, continents are there:7"""),
    ),
    Relation(
        fact_questions.PLANET,
        "That is {v}.",
        _pairs("""closest to the sun:Mercury, the largest:Jupiter, the smallest:Mercury, known for its rings:Saturn,
        called the red planet:Mars, our home:Earth, the hottest:Venus, farthest from the sun:Neptune,
        the third from the sun:Earth, the second from the sun:Venus, the fourth from the sun:Mars,
        the fifth from the sun:Jupiter, the sixth from the sun:Saturn, the seventh from the sun:Uranus"""),
    ),
    Relation(
        fact_questions.SYMBOL,
        "The symbol of {s} is {v}.",
        _pairs("""gold:Au, silver:Ag, iron:Fe, copper:Cu, lead:Pb, tin:Sn, zinc:Zn, oxygen:O, hydrogen:H, carbon:C,
        nitrogen:N, helium:He, sodium:Na, calcium:Ca, neon:Ne, sulfur:S, mercury:Hg, silicon:Si"""),
    ),
    Relation(
        fact_questions.NEXT_DAY,
        "After {s} comes {v}.",
        _pairs("""Monday:Tuesday, Tuesday:Wednesday, Wednesday:Thursday, Thursday:Friday, Friday:Saturday,
        Saturday:Sunday, Sunday:Monday"""),
    ),
    Relation(
        fact_questions.NEXT_MONTH,
        "After {s} comes {v}.",
        _pairs("""January:February, February:March, March:April, April:May, May:June, June:July, July:August,
        August:September, September:October, October:November, November:December, December:January"""),
    ),
    Relation(
        fact_questions.LANGUAGE,
        "People in {s} speak {v}.",
        _pairs("""France:French, Spain:Spanish, Italy:Italian, Germany:German, Poland:Polish, Greece:Greek,
Turkey:Turkish,
        China:Chinese, Japan:Japanese, Brazil:Portuguese, Mexico:Spanish, Austria:German, Sweden:Swedish,
Norway:Norwegian,
        Denmark:Danish, Finland:Finnish, Russia:Russian, Egypt:Arabic, Hungary:Hungarian, Iceland:Icelandic"""),
    ),
    Relation(
        fact_questions.MATERIAL,
        "The material of {s} is {v}.",
        _pairs("""bread:flour, cheese:milk, butter:milk, wine:grapes, a window:glass, paper:wood, a tyre:rubber,
a brick:clay,
        cider:apples, a candle:wax, ketchup:tomatoes, honey:nectar, a book:paper, a nail:iron, yogurt:milk,
a sweater:wool"""),
    ),
    Relation(
        fact_questions.WORKPLACE,
        "The workplace of {s} is {v}.",
        _pairs("""a teacher:a school, a doctor:a hospital, a baker:a bakery, a farmer:a farm, a judge:a court,
a chef:a kitchen,
        a librarian:a library, a pilot:a plane, a sailor:a ship, a miner:a mine, an actor:a theatre,
a soldier:an army"""),
    ),
)
SYSTEMS = phrases("""You are a helpful assistant. | Answer the question. | You know many facts. |
You are a quiz master. | Answer in one sentence. | You are a teacher. | Answer briefly. | Be brief. |
Answer all questions. | You answer questions. | Tell the truth. | You know the world. | You are an encyclopedia. |
Use short sentences. | You are good at facts. | Give the right answer. |
You teach pupils. | Write full sentences. | You are patient and know many facts. |
You answer questions about the world. | You are a walking encyclopedia. | You are a patient teacher. |
You are a school teacher. | You teach children. | You help with homework. | You help pupils with their questions. |
You are an expert in general knowledge. | You know the answer to every question. | You are a quiz assistant. |
Answer the quiz questions. | This is a quiz. | The user plays a quiz with you. | Give short answers. |
Keep your answers short. | Answer in a full sentence. | Use full sentences. | Answer in complete sentences. |
Answer every question in one short sentence. | Give true answers. | Only say what is true. | Stay with the facts. |
Answer with facts. | You know a lot about the world. | You know countries, animals and planets. |
You are like an encyclopedia for children. | Be a good teacher. | The user asks questions about facts. |
The user will ask you about the world. | You are a helpful assistant for pupils. | Answer what you are asked. |
Be helpful and brief. | You are a smart assistant that knows many facts.""")


def _article(text: str) -> str:
    return text[0].upper() + text[1:]


def fact(source: Source) -> tuple[str, str, str]:
    """A question, its answering sentence and the bare value."""
    index = source.random.choices(range(len(RELATIONS)), [len(r.pairs) for r in RELATIONS])[0]
    relation = RELATIONS[index]
    subject, value = source.any(list(relation.pairs.items()))
    question = _article(worded(source, relation.questions, s=subject))
    return question, _article(relation.answer.format(s=subject, v=value)), value


def question(source: Source) -> tuple[str, str]:
    asked, answer, _ = fact(source)
    return asked, answer


def make_facts(source: Source) -> Sample:
    turns: list[Message] = [system(source.one(SYSTEMS))] if source.chance(0.3) else []
    answer = ""
    for _ in range(source.integer(1, 5)):
        asked, answer = question(source)
        turns += [user(asked), assistant(answer)]
    return Sample("facts", tuple(turns), Check("exact", answer))
