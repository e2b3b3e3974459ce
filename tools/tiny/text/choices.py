"""Yes or no, and multiple choice, about the known facts."""

from tools.tiny.text.facts import RELATIONS
from tools.tiny.text.sample import Check, Message, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

YES_NO = phrases("""Is this true? {s} | True or false? {s} | Yes or no: {s} | Is this right? {s} |
{s} Is that correct? | Correct? {s} | {s} Yes or no? | {s} True?""")
MULTIPLE = phrases("""{q}\n{o} | {q} Choose one.\n{o} | {q}\nOptions:\n{o} |
Question: {q}\n{o}\nAnswer with a letter. | {q} Pick the right letter.\n{o} | Multiple choice: {q}\n{o} |
{q}\nChoices:\n{o} | Quiz: {q}\n{o}""")


# "The number is 7." is neither true nor false: a statement must name its subject.
STATED = tuple(relation for relation in RELATIONS if "{s}" in relation.answer)


def _round(source: Source) -> tuple[str, str]:
    relation = source.any(STATED)
    subject, value = source.any(list(relation.pairs.items()))
    others = sorted(set(relation.pairs.values()) - {value})
    if source.chance(0.5):
        true = source.chance(0.5)
        said = relation.answer.format(s=subject, v=value if true else source.any(others))
        question = source.fill(YES_NO, s=said[0].upper() + said[1:])
        word = ("True." if true else "False.") if "rue" in question else ("Yes." if true else "No.")
        return question, word
    options = [value, *source.random.sample(others, min(len(others), source.integer(1, 3)))]
    source.random.shuffle(options)
    asked = source.fill(relation.questions, s=subject)
    listed = "\n".join(f"{letter}) {option}" for letter, option in zip("ABCD", options, strict=False))
    return source.fill(MULTIPLE, q=asked[0].upper() + asked[1:], o=listed), f"{'ABCD'[options.index(value)]}) {value}"


def make_choice(source: Source) -> Sample:
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 4)):
        question, answer = _round(source)
        turns += [user(question), assistant(answer)]
    return Sample("yes/no and choice", tuple(turns), Check("exact", answer))
