"""Yes or no, and multiple choice, about the known facts."""

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
{s} Is it so? | Is that so? {s} | {s} Correct?""")
MULTIPLE = phrases("""{q}\n{o} | {q} Choose one.\n{o} | {q}\nOptions:\n{o} |
Question: {q}\n{o}\nAnswer with a letter. | {q} Pick the right letter.\n{o} | Multiple choice: {q}\n{o} |
{q}\nChoices:\n{o} | Quiz: {q}\n{o} |
{q} Which one?\n{o} | Choose: {q}\n{o} | Pick one. {q}\n{o} | {q}\nA letter, please:\n{o} |
{q} These are the options:\n{o} | Test: {q}\n{o} | {q}\nPossible answers:\n{o} | Which is right? {q}\n{o} |
{q}\nSelect one:\n{o} | Exam question: {q}\n{o} | {q} You can choose:\n{o} | Tick one. {q}\n{o} |
{q}\nAnswer with one of these:\n{o} | Options for you: {q}\n{o}""")


# "The number is 7." is neither true nor false: a statement must name its subject.
STATED = tuple(relation for relation in RELATIONS if "{s}" in relation.answer)


def _round(source: Source) -> tuple[str, str]:
    relation = source.any(STATED)
    subject, value = source.any(list(relation.pairs.items()))
    others = sorted(set(relation.pairs.values()) - {value})
    if source.chance(0.5):
        true = source.chance(0.5)
        said = relation.answer.format(s=subject, v=value if true else source.any(others))
        template = source.one(YES_NO)
        word = ("True." if true else "False.") if "rue" in template else ("Yes." if true else "No.")
        return loosened(source, template).format(s=said[0].upper() + said[1:]), word
    options = [value, *source.random.sample(others, min(len(others), source.integer(1, 3)))]
    source.random.shuffle(options)
    asked = worded(source, relation.questions, s=subject)
    listed = "\n".join(f"{letter}) {option}" for letter, option in zip("ABCD", options, strict=False))
    return worded(
        source, MULTIPLE, q=asked[0].upper() + asked[1:], o=listed
    ), f"{'ABCD'[options.index(value)]}) {value}"


def make_choice(source: Source) -> Sample:
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 7)):
        question, answer = _round(source)
        turns += [user(question), assistant(answer)]
    return Sample("yes/no and choice", tuple(turns), Check("exact", answer))
