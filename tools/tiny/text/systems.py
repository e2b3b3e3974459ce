"""System prompts that say who the assistant is and how it behaves, and change nothing about the form of its answers.

Every agent has one. With few of them in training, one in an unknown wording was taken for a wish for small letters or
for one word, the only other things that system prompts had been about.
"""

import dataclasses

from tools.tiny.text import words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Message, Sample, system
from tools.tiny.text.source import Source, phrases

ROLES = phrases("""teacher | travel agent | tour guide | librarian | shop assistant | tutor | coach | secretary |
receptionist | historian | scientist | engineer | programmer | reporter | editor | translator | nurse | doctor |
pirate | wizard | robot | detective | chef | waiter | farmer | gardener | pilot | captain | sailor | king | knight |
poet | musician | painter | lawyer | banker | accountant | planner | clerk | guide | helper | assistant | agent | bot |
chatbot | expert | companion | friend | colleague | manager | consultant | analyst | researcher | professor | student |
driver | mechanic | plumber | carpenter | butler | concierge | salesperson | cashier | postman | moderator | host |
trainer | quiz master | game master | storyteller | news reader | weather reporter | sports fan | museum guide |
city guide | help desk | call centre agent | support agent | booking agent | office helper | kitchen helper |
study buddy | home assistant | research assistant | writing assistant | cooking assistant | garden assistant |
school assistant""")
MANNERS = phrases("""friendly | helpful | polite | kind | honest | careful | patient | calm | wise | clever | smart |
quick | exact | precise | correct | reliable | professional | modern | cheerful | happy | serious | thoughtful |
gentle | respectful | fair | loyal | experienced | skilled | busy | tireless | curious | funny | warm | formal |
direct | modest | attentive | trusted | local | digital | virtual | personal | diligent | neutral | objective |
factual | truthful | confident | brave | humble | tidy | punctual | sensible | practical | useful | good | nice |
great | true""")
PEOPLE = phrases("""people | users | pupils | customers | travellers | children | students | visitors | guests |
patients | readers | beginners | teachers | tourists | families | parents | colleagues | employees | clients |
friends | everybody | everyone | the user | the customer | the guest | the team | the family | players | drivers |
farmers | cooks | developers | engineers | writers | buyers | citizens | members | passengers | young people |
old people | callers""")
TOPICS = phrases("""homework | travel | cooking | the garden | music | sports | animals | plants | history |
geography | science | books | films | shopping | orders | bookings | appointments | letters | emails | questions |
small tasks | daily tasks | school | work | the office | the house | health | money | taxes | cars | bikes | trains |
flights | hotels | restaurants | recipes | games | puzzles | quizzes | languages | computers | phones | software |
the weather | the news | planning | schedules | contracts | invoices | deliveries | repairs | their problems |
their wishes | their plans | facts | the world | countries | everyday life""")
SENTENCES = phrases("""whole | full | complete | proper | clear | plain | simple | normal | good | correct | polite |
friendly | easy | short | understandable | entire | readable | regular | ordinary | well-formed | nice | tidy""")
PLACES = phrases("""{n} | the {n} company | the {n} shop | the {n} school | the {n} hotel | the {n} bank | {n} Travel |
the {n} museum | the {n} library | the city of {n} | {n} Airlines | the {n} hospital | {n} & Sons | the {n} team |
the {n} restaurant | the {n} project | {n} Ltd | the {n} agency | the {n} office | {n} Foods""")
FRAMES = phrases("""You are a {r}. | You are a {j} {r}. | You are a {r} who helps {p}. | You are a {j} and {k} {r}. |
Act as a {r}. | Act as a {j} {r}. | You work as a {r}. | Play a {r}. | Pretend to be a {r}. | You are a {r} for {p}. |
You are a {r} at {o}. | You are the {r} of {o}. | You are the {j} {r} of {o}. | You work for {o}. | You work at {o}. |
You answer for {o}. | You represent {o}. | You are an assistant for {t}. | You are an expert for {t}. |
You are a {r} for {t}. | You help {p}. | You help {p} with {t}. | Help {p} with {t}. | Assist {p} with {t}. |
Help {p}. | You answer questions about {t}. | You answer the questions of {p}. | Answer questions about {t}. |
Your job is to help {p}. | Your task is to help {p} with {t}. | Your role: {j} {r}. | Role: {r} |
Your job: {r} at {o}. | The users are {p}. | The user asks about {t}. | The user is a {r}. | The user works for {o}. |
You talk to {p}. | You talk with {p} about {t}. | You speak with a {r}. | People ask you about {t}. |
You know a lot about {t}. | You know {t} well. | You love {t}. | You support {p}. | You serve {p}. |
You serve the customers of {o}. | Be {j}. | Be {j} and {k}. | Be {j} to {p}. | Always be {j}. | Stay {j}. |
Please be {j}. | You are {j}. | You are {j} and {k}. | You are always {j}. | Give {j} answers. |
Give {j} and {k} answers. | Your answers are {j}. | Your answers must be {j}. | Answer like a {r}. |
Answer as a {j} {r} would. | Answer {p}. | Speak like a {r}. | Talk to the user like a {r}. | Write {s} sentences. |
Use {s} sentences. | Answer in {s} sentences. | Answer in a {s} sentence. | Reply with {s} sentences. |
Speak in {s} sentences. | Your answers are {s} sentences. | Write {s} answers. | Give {s} answers. | Write for {p}. |
Explain things to {p}. | Be a {j} {r}. | Be a good {r} for {p}. | Imagine you are a {r}. | Today you are a {r}. |
This is a chat with {p}. | This is a chat about {t}. | This is the chat of {o}. | Welcome to {o}. |
Here {p} ask about {t}. | A {r} asks you questions. | Do your best for {p}. | Never be rude to {p}. | Make {p} happy. |
Care for {p}. | We are {o}. | We help {p}. | We at {o} help {p} with {t}.""")


def manner(source: Source) -> str:
    """One to three sentences, as `You are a patient librarian. Help visitors with books.`"""
    return " ".join(_sentence(source) for _ in range(source.any((1, 1, 1, 2, 2, 3))))


def _sentence(source: Source) -> str:
    first, second = source.some(MANNERS, 2)
    name = words.listed(source, words.SURNAMES)
    role = words.made_up(source) if source.split == "train" and source.chance(0.1) else source.one(ROLES)
    place = source.fill(PLACES, n=name)
    people, topic, sentences = source.one(PEOPLE), source.one(TOPICS), source.one(SENTENCES)
    said = worded(source, FRAMES, j=first, k=second, r=role, p=people, t=topic, o=place, s=sentences)
    return said.replace(" a a", " an a").replace(" a e", " an e").replace(" a i", " an i").replace(" a o", " an o")


def opened(source: Source, sample: Sample) -> Sample:
    """The sample with a manner before its own system prompt (three in ten), or with one where it has none (two)."""
    own = sample.messages[0]["content"] if sample.messages[0]["role"] == "system" else ""
    if not source.chance(0.3 if own else 0.2):
        return sample
    text = manner(source)
    head: Message = system(f"{text}{source.any((' ', ' ', chr(10)))}{own}" if own else text)
    return dataclasses.replace(sample, messages=(head, *sample.messages[1 if own else 0 :]))
