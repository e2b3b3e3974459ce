"""About three hundred facts, each asked in many ways. What is held out here is the wording, not the fact."""

from dataclasses import dataclass

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
        phrases("""What is the capital of {s}? | Capital of {s}? | Which city is the capital of {s}? |
Name the capital of {s}. | Tell me the capital of {s}. | What is {s}'s capital? |
What is the capital city of {s}? | Do you know the capital of {s}? | The capital of {s} is which city? |
Which city governs {s}? | Please tell me the capital of {s}. |
Where is the government of {s}? | What is the main city of {s}? | {s}: capital? | The capital of {s}? |
I need the capital of {s}. | Say the capital of {s}. | {s} has which capital? | Give me the capital of {s}. |
Which capital has {s}? | Which capital city belongs to {s}? | What do we call the capital of {s}? |
In which city is the government of {s}? | {s} and its capital? | Which town is the capital of {s}?"""),
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
        phrases("""On which continent is {s}? | Which continent is {s} on? | Where is {s}? |
{s} is on which continent? | What continent is {s} part of? | Tell me the continent of {s}. |
In which part of the world is {s}? | Name the continent of {s}. | Continent of {s}? |
{s} lies on which continent? | In which continent is {s}? | Which continent has {s}? | {s}: continent? |
Where on earth is {s}? | To which continent does {s} belong? | Where does {s} lie? | Where can I find {s}? |
The continent of {s}, please. | {s} is where? | Give me the continent of {s}. | What part of the world is {s} in?"""),
        "{s} is in {v}.",
        _pairs("""France:Europe, Spain:Europe, Italy:Europe, Germany:Europe, Norway:Europe, Poland:Europe,
Greece:Europe,
        Egypt:Africa, Kenya:Africa, Ghana:Africa, Tunisia:Africa, Senegal:Africa, India:Asia, China:Asia, Japan:Asia,
        Thailand:Asia, Vietnam:Asia, Iran:Asia, Peru:South America, Chile:South America, Brazil:South America,
        Argentina:South America, Canada:North America, Mexico:North America, Cuba:North America"""),
    ),
    Relation(
        phrases("""What colour is {s}? | What is the colour of {s}? | Which colour does {s} have? |
Colour of {s}? | Tell me the colour of {s}. | What color is {s}? | Name the colour of {s}. |
Which colour is {s}? | Do you know the colour of {s}? |
{s}: colour? | {s} has which colour? | The colour of {s}? | Which color is {s}? | Say the colour of {s}. |
Give me the colour of {s}. | How is {s} coloured? | In which colour is {s}? | What is the color of {s}? |
Is {s} red or blue or what? | Describe the colour of {s}. | {s} is of what colour?"""),
        "The colour of {s} is {v}.",
        _pairs("""grass:green, snow:white, blood:red, coal:black, the sky:blue, a banana:yellow, a lemon:yellow,
        a carrot:orange, a cherry:red, milk:white, chocolate:brown, the sea:blue, a leaf:green, the sun:yellow,
        a tomato:red, a cucumber:green, a plum:purple, salt:white, a raven:black, a flamingo:pink, an elephant:grey,
        a frog:green, a lobster:red, an orange:orange, a pumpkin:orange"""),
    ),
    Relation(
        phrases("""What is the opposite of {s}? | Opposite of {s}? | What is the contrary of {s}? |
Name the opposite of {s}. | Which word is the opposite of {s}? | Tell me the opposite of {s}. |
{s} is the opposite of what? | Give me the opposite of {s}. | What word means the opposite of {s}? |
{s}: opposite? | {s} and its opposite? | The opposite of {s}? | What is not {s}? | Say the opposite of {s}. |
The word {s} has which opposite? | Which word is contrary to {s}? | {s} has which opposite? |
{s} turned around is what? | If not {s}, then what? |
Find the opposite of {s}. | What would be the opposite of {s}?"""),
        "The opposite of {s} is {v}.",
        _pairs("""hot:cold, big:small, old:new, fast:slow, high:low, light:dark, long:short, up:down, left:right,
open:closed,
        full:empty, wet:dry, hard:soft, rich:poor, early:late, day:night, happy:sad, strong:weak, loud:quiet,
thick:thin,
        clean:dirty, good:bad, near:far, deep:shallow, true:false, begin:end, win:lose, love:hate, always:never,
        inside:outside, wide:narrow, heavy:light, cheap:expensive, young:old, first:last, sweet:sour"""),
    ),
    Relation(
        phrases("""What is a young {s} called? | What do you call a baby {s}? | Name of a young {s}? |
What is the young of a {s}? | How is a baby {s} called? | What is a baby {s}? | A young {s} is called what? |
Give the name of a young {s}. | What is the word for a young {s}? |
The young of a {s} is called what? | {s}: its young? | What is the child of a {s} called? |
How do you call a young {s}? | The name of a baby {s}? | Say the word for a baby {s}. | What is a small {s} called? |
What name has a young {s}? | {s} babies are called what? | A baby {s} is called what? | What are young {s}s called?"""),
        "A young {s} is called a {v}.",
        _pairs("""cat:kitten, dog:puppy, cow:calf, horse:foal, sheep:lamb, goat:kid, pig:piglet, hen:chick,
duck:duckling,
        goose:gosling, bear:cub, lion:cub, deer:fawn, frog:tadpole, swan:cygnet, kangaroo:joey, rabbit:kit,
wolf:pup"""),
    ),
    Relation(
        phrases("""How many legs does {s} have? | How many legs has {s}? | Legs of {s}? |
Count the legs of {s}. | Tell me how many legs {s} has. | What number of legs does {s} have? |
On how many legs does {s} walk? | {s} has how many legs? |
Number of legs of {s}? | {s}: how many legs? | The number of legs of {s}? | How many legs are on {s}? |
Say how many legs {s} has. | How many legs can you count on {s}? | With how many legs does {s} go? |
How many legs do you see on {s}? | What is the number of legs of {s}? | {s} walks on how many legs?"""),
        "The number of legs of {s} is {v}.",
        _pairs("""a cat:4, a dog:4, a horse:4, a spider:8, an ant:6, a bee:6, a bird:2, a human:2, a hen:2, a crab:10,
        a snake:0, a fish:0, a worm:0, a beetle:6, a cow:4, a scorpion:8, a fly:6, an owl:2"""),
    ),
    Relation(
        phrases("""What sound does a {s} make? | What does a {s} say? | How does a {s} sound? |
Which noise does a {s} make? | What noise does a {s} make? | Sound of a {s}? | Tell me the sound of a {s}. |
What is the sound of a {s}? |
{s}: which sound? | A {s} makes which sound? | A {s} says what? | What do you hear from a {s}? |
Which sound does a {s} make? | What is the noise of a {s}? | How does a {s} talk? | Make the sound of a {s}. |
The sound of a {s}? | How goes the {s}?"""),
        "A {s} says {v}.",
        _pairs("""cat:meow, dog:woof, cow:moo, sheep:baa, duck:quack, pig:oink, hen:cluck, frog:ribbit, lion:roar,
raven:croak,
        bee:buzz, mouse:squeak, horse:neigh, snake:hiss, crow:caw, donkey:hee-haw, wolf:howl,
rooster:cock-a-doodle-doo"""),
    ),
    Relation(
        phrases("""How many {s}? | Tell me how many {s}. | Do you know how many {s}? |
Can you say how many {s}? | I forgot how many {s}. | Please tell me how many {s}. | How many {s}, please? |
Say how many {s}. |
Count: how many {s}? | The number, please: how many {s}? | How many {s} again? | Remind me how many {s}. |
I want to know how many {s}. | I wonder how many {s}. | What is the number: how many {s}? |
Can you tell me how many {s}? | Exactly how many {s}? | Guess how many {s}."""),
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
        phrases("""Which planet is {s}? | What planet is {s}? | Name the planet that is {s}. |
Tell me which planet is {s}. | Which of the planets is {s}? | What is the planet that is {s}? |
Do you know which planet is {s}? |
The planet that is {s}? | Which one of the planets is {s}? | What is the name of the planet that is {s}? |
One planet is {s}. Which? | Say which planet is {s}. | Give me the planet that is {s}. |
I look for the planet that is {s}. | Planet: {s}? | Who among the planets is {s}?"""),
        "That is {v}.",
        _pairs("""closest to the sun:Mercury, the largest:Jupiter, the smallest:Mercury, known for its rings:Saturn,
        called the red planet:Mars, our home:Earth, the hottest:Venus, farthest from the sun:Neptune,
        the third from the sun:Earth, the second from the sun:Venus, the fourth from the sun:Mars,
        the fifth from the sun:Jupiter, the sixth from the sun:Saturn, the seventh from the sun:Uranus"""),
    ),
    Relation(
        phrases("""What is the chemical symbol of {s}? | Symbol of {s}? | Which symbol has {s}? |
What is the symbol for {s}? | Tell me the symbol of {s}. | Give the chemical symbol for {s}. |
How is {s} written in chemistry? | What symbol stands for {s}? |
{s}: symbol? | The symbol of {s}? | {s} has which symbol? | How do you write {s} in chemistry? |
Chemical symbol: {s}? | Say the symbol of {s}. | Give me the symbol of {s}. | What are the letters for {s}? |
What is the short form of {s} in chemistry? | Which letters stand for {s}?"""),
        "The symbol of {s} is {v}.",
        _pairs("""gold:Au, silver:Ag, iron:Fe, copper:Cu, lead:Pb, tin:Sn, zinc:Zn, oxygen:O, hydrogen:H, carbon:C,
        nitrogen:N, helium:He, sodium:Na, calcium:Ca, neon:Ne, sulfur:S, mercury:Hg, silicon:Si"""),
    ),
    Relation(
        phrases("""What day comes after {s}? | Which day follows {s}? | What is the day after {s}? |
After {s} comes which day? | Next day after {s}? | Name the day after {s}. | What comes after {s}? |
Tell me what follows {s}. |
{s}: what is next? | {s}, and then? | What is next after {s}? | {s} is followed by what? | Say what comes after {s}. |
After {s} comes what? | Who follows {s}? | What do we have after {s}? | And after {s}? | Which one comes after {s}?"""),
        "After {s} comes {v}.",
        _pairs("""Monday:Tuesday, Tuesday:Wednesday, Wednesday:Thursday, Thursday:Friday, Friday:Saturday,
Saturday:Sunday,
        Sunday:Monday, January:February, February:March, March:April, April:May, May:June, June:July, July:August,
        August:September, September:October, October:November, November:December, December:January"""),
    ),
    Relation(
        phrases("""Which language is spoken in {s}? | What language do people speak in {s}? |
Language of {s}? | What is the language of {s}? | What do people in {s} speak? |
Tell me the language of {s}. | Which language do they speak in {s}? | Name the main language of {s}. |
{s}: language? | In {s} they speak which language? | What is spoken in {s}? | How do people talk in {s}? |
The language of {s}? | Say the language of {s}. | Which language has {s}? | What is the main language in {s}? |
What tongue do they speak in {s}? | What language is used in {s}? | I travel to {s}. Which language do they speak?"""),
        "People in {s} speak {v}.",
        _pairs("""France:French, Spain:Spanish, Italy:Italian, Germany:German, Poland:Polish, Greece:Greek,
Turkey:Turkish,
        China:Chinese, Japan:Japanese, Brazil:Portuguese, Mexico:Spanish, Austria:German, Sweden:Swedish,
Norway:Norwegian,
        Denmark:Danish, Finland:Finnish, Russia:Russian, Egypt:Arabic, Hungary:Hungarian, Iceland:Icelandic"""),
    ),
    Relation(
        phrases("""What is {s} made of? | From what is {s} made? | Which material is {s} made of? |
What do you make {s} from? | Tell me what {s} is made of. | What is used to make {s}? |
Main material of {s}? | {s} is made of what? |
{s}: material? | The material of {s}? | {s} comes from what? | What is in {s}? | Out of what is {s} made? |
Say what {s} is made of. | What do they make {s} of? | Which stuff is {s} made from? |
From which material do you make {s}? | What is the material of {s}?"""),
        "The material of {s} is {v}.",
        _pairs("""bread:flour, cheese:milk, butter:milk, wine:grapes, a window:glass, paper:wood, a tyre:rubber,
a brick:clay,
        cider:apples, a candle:wax, ketchup:tomatoes, honey:nectar, a book:paper, a nail:iron, yogurt:milk,
a sweater:wool"""),
    ),
    Relation(
        phrases("""Where does {s} work? | What is the workplace of {s}? | In which place does {s} work? |
Workplace of {s}? | Tell me where {s} works. | At what place does {s} work? | {s} works where? |
Where would you find {s} at work? |
{s}: workplace? | The workplace of {s}? | Where is {s} at work? | In what place can you see {s} at work? |
Where does {s} go to work? | Where is the work of {s}? | Where do you meet {s}? |
Which place is the workplace of {s}? | Say where {s} works. | Where does {s} do the job?"""),
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
Use short sentences. | You are good at facts. | Give the right answer.""")


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
