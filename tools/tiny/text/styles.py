"""System prompts that fix the form of the answer: upper case, one word, JSON only, a fixed ending."""

import json

from tools.tiny.text import facts, words
from tools.tiny.text.arithmetic import sum_round
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

UPPER = phrases("""Answer in upper case. | Write in capital letters only. | ALWAYS WRITE IN CAPITALS. |
Use only upper case letters. | Shout every answer. | Reply in all caps. |
You write everything in upper case. | Upper case only.""")
LOWER = phrases("""Answer in lower case. | Use only lower case letters. | Never use capital letters. |
Reply in lower case. | You write everything in lower case. | Lower case only. | No capitals, please.""")
WORD = phrases("""Answer with one word. | One word only. | Reply with a single word. |
Give only the answer, nothing else. | Answer with just the value. | Only the bare answer. |
Use as few words as possible. | Just the answer, no sentence.""")
JSON_ONLY = phrases("""Answer as JSON with the key {k}. | Reply only with JSON: {{"{k}": ...}} |
JSON only, key {k}. | Always answer with a JSON object that has the key {k}. |
Output JSON with one key, {k}. | Your answers are JSON objects with the field {k}. |
Return JSON like {{"{k}": "..."}}""")
ENDING = phrases("""End every answer with {w}. | Always finish with the word {w}. |
Your last word is always {w}. | Close each answer with {w}. | After each answer write {w}. |
Add {w} to the end of every answer.""")
OPENING = phrases("""Begin every answer with {w}. | Always start with the word {w}. |
Your first word is always {w}. | Open each answer with {w}. | Before each answer write {w}. |
Put {w} in front of every answer.""")


def _ask(source: Source) -> tuple[str, str, str]:
    if source.chance(0.2):
        question, _, answer = sum_round(source)
        return question, answer, answer.split()[-1]
    return facts.fact(source)


def make_style(source: Source) -> Sample:
    kind = source.integer(0, 5)
    word = words.syllables(source) if source.chance(0.5) else source.one(words.COMMON)
    key = source.any(("answer", "result", "value", "text", "reply"))
    head = source.fill((UPPER, LOWER, WORD, JSON_ONLY, ENDING, OPENING)[kind], k=key, w=word)
    turns: list[Message] = [system(head)]
    answer = ""
    for _ in range(source.integer(1, 3)):
        question, sentence, value = _ask(source)
        answer = (
            sentence.upper(),
            sentence.lower(),
            value,
            json.dumps({key: value}),
            f"{sentence} {word}",
            f"{word} {sentence}",
        )[kind]
        turns += [user(question), assistant(answer)]
    return Sample("system styles", tuple(turns), Check("exact", answer))
