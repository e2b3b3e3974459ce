"""Yes or no, and multiple choice, about the known facts: what is known comes first, then the verdict."""

from tools.tiny.text.facts import RELATIONS
from tools.tiny.text.loosening import loosened, worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

YES_NO = phrases("""Is this true? {s} | True or false? {s} | Yes or no: {s} | Is this right? {s} |
{s} Is that correct? | Correct? {s} | {s} Yes or no? | {s} True? |
Right or wrong, yes or no? {s} | Is it true that this holds? {s} | {s} Is this true? | {s} True or false? |
{s} Is that right? | Tell me if this is true: {s} | I think so: {s} Am I right? | {s} Right? | Answer yes or no. {s} |
Answer true or false. {s} | Someone said: {s} Is it correct? | Check this, yes or no: {s} | Do you agree? {s} |
{s} Do you agree? | Could this be right? {s} | Statement: {s} True or false? | Judge, true or false: {s} |
{s} Is it so? | Is that so? {s} | {s} Correct? |
I heard: {s} Is it so? | He told me: {s} Is he right? | She said: {s} Was she right? | Is the following true? {s} |
{s} Is it true? | {s} Is that true? | Is it true? {s} | Is this statement true? {s} | {s} Is this statement true? |
{s} Is the statement true or false? | Say true or false: {s} | Decide if this is true: {s} |
Decide: true or false? {s} | {s} Would you say this is true? | {s} Say true or false. | I heard this: {s} Is it true? |
My friend says: {s} Is that true? | I read this: {s} True or false? | Can this be true? {s} |
Do you think this is true? {s} | Tell me whether this is true or false: {s} | {s} Tell me if it is true. |
Quiz, true or false: {s} | {s} Is this correct? | Is this correct? {s} | Is the following correct? {s} |
Is the following right? {s} | Is this statement correct? {s} | Is this statement right? {s} | {s} Is this right? |
{s} Am I right? | Am I right about this? {s} | I say: {s} Do you agree? | I think: {s} Is that right? |
I believe this: {s} Am I right? | My teacher says: {s} Is this correct? | He said this: {s} Was he right? |
She told me: {s} Is she right? | Someone told me: {s} Is that right? | {s} Can you agree with that? |
Would you agree? {s} | Do you agree with this? {s} | {s} Yes or no, please. | Answer with yes or no: {s} |
Say yes or no: {s} | {s} Say yes or no. | {s} Answer yes or no. | Tell me yes or no: {s} | Is it so? {s} |
Is that so, yes or no? {s} | {s} Did I get that right? | Did I get this right? {s} | {s} Is my answer correct? |
My answer: {s} Is it right? | Check my answer: {s} Correct? | Check if this is right: {s} | Judge, yes or no: {s} |
Statement: {s} Correct? | Statement: {s} Yes or no?""")
MULTIPLE = phrases("""{q}\n{o} | {q} Choose one.\n{o} | {q}\nOptions:\n{o} |
Question: {q}\n{o}\nAnswer with a letter. | {q} Pick the right letter.\n{o} | Multiple choice: {q}\n{o} |
{q}\nChoices:\n{o} | Quiz: {q}\n{o} |
{q} Which one?\n{o} | Choose: {q}\n{o} | Pick one. {q}\n{o} | {q}\nA letter, please:\n{o} |
{q} These are the options:\n{o} | Test: {q}\n{o} | {q}\nPossible answers:\n{o} | Which is right? {q}\n{o} |
{q}\nSelect one:\n{o} | Exam question: {q}\n{o} | {q} You can choose:\n{o} | Tick one. {q}\n{o} |
{q}\nAnswer with one of these:\n{o} | Options for you: {q}\n{o} |
Some choices: {q}\n{o} | For this question, choose one: {q}\n{o} | {q} Choose the right answer.\n{o} |
{q}\nChoose the right letter:\n{o} | Choose the correct answer. {q}\n{o} | {q} Which of these?\n{o} |
{q} Which of these is right?\n{o} | Which of these is correct? {q}\n{o} | Which answer is right? {q}\n{o} |
{q}\nWhich answer is correct?\n{o} | {q}\nWhich letter is right?\n{o} | {q} Give the letter.\n{o} |
{q} Answer with the right letter.\n{o} | {q}\n{o}\nWhich one is right? | {q}\n{o}\nChoose one. |
{q}\n{o}\nPick the right answer. | {q}\n{o}\nWhich letter? | {q}\n{o}\nSelect the correct answer. |
{q}\n{o}\nWhat is the right option? | {q}\n{o}\nWhich of these is it? | {q} Pick an option.\n{o} |
{q} Pick one of these:\n{o} | Pick the right option. {q}\n{o} | Select the right option: {q}\n{o} |
{q} Select the right answer:\n{o} | {q}\nThe choices:\n{o} | {q}\nYour options are:\n{o} |
{q}\nHere are the choices:\n{o} | {q} Here are the possible answers.\n{o} | {q} One of these is right:\n{o} |
Only one is correct. {q}\n{o} | A question with choices: {q}\n{o} | Multiple choice question: {q}\n{o} |
Multiple choice test. {q}\n{o} | Quiz question: {q}\n{o} | Quiz time! {q}\n{o} | Here is a quiz question. {q}\n{o} |
Exam: {q}\n{o} | Test question: {q}\n{o} | {q} Tick the right answer.\n{o} | {q}\nTick one:\n{o} | {o}\n{q} |
Options:\n{o}\n{q} | Here are some options:\n{o}\n{q} | Choices:\n{o}\nQuestion: {q} | Choose from these:\n{o}\n{q} |
Possible answers:\n{o}\n{q}""")


# "The number is 7." is neither true nor false: a statement must name its subject.
STATED = tuple(relation for relation in RELATIONS if "{s}" in relation.answer)


def _round(source: Source) -> tuple[str, str]:
    relation = source.any(STATED)
    subject, value = source.any(list(relation.pairs.items()))
    others = sorted(set(relation.pairs.values()) - {value})
    # A fact and a comparison in one step are too much for a model this small.
    known = relation.answer.format(s=subject, v=value)
    known = known[0].upper() + known[1:]
    if source.chance(0.5):
        true = source.chance(0.5)
        said = relation.answer.format(s=subject, v=value if true else source.any(others))
        template = source.one(YES_NO)
        word = ("True." if true else "False.") if "rue" in template else ("Yes." if true else "No.")
        return loosened(source, template).format(s=said[0].upper() + said[1:]), f"{known} {word}"
    options = [value, *source.random.sample(others, min(len(others), source.integer(1, 3)))]
    source.random.shuffle(options)
    asked = worded(source, relation.questions, s=subject)
    listed = "\n".join(f"{letter}) {option}" for letter, option in zip("ABCD", options, strict=False))
    return worded(
        source, MULTIPLE, q=asked[0].upper() + asked[1:], o=listed
    ), f"{known} {'ABCD'[options.index(value)]}) {value}"


def make_choice(source: Source) -> Sample:
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 7)):
        question, answer = _round(source)
        turns += [user(question), assistant(answer)]
    return Sample("yes/no and choice", tuple(turns), Check("exact", answer))
