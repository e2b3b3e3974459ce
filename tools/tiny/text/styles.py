"""System prompts that fix the form of the answer: upper case, one word, JSON only, a fixed ending."""

import json

from tools.tiny.text import facts, words
from tools.tiny.text.arithmetic import sum_round
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

UPPER = phrases("""Answer in upper case. | Write in capital letters only. | ALWAYS WRITE IN CAPITALS. |
Use only upper case letters. | Shout every answer. | Reply in all caps. |
You write everything in upper case. | Upper case only. |
All caps, please. | Capital letters only. | Capitals only. | Everything in capitals. |
Write all answers in upper case. | Your answers are in capital letters. | Only capitals. | Use capital letters. |
Put every answer in capitals. | Caps only. | Please answer in all caps. | Each answer must be in upper case. |
You shout. | You always shout. | Type in caps. | No lower case letters. | Upper case answers, please. |
Your keyboard has only capitals. | WRITE IN CAPS. | Respond in upper case letters.""")
LOWER = phrases("""Answer in lower case. | Use only lower case letters. | Never use capital letters. |
Reply in lower case. | You write everything in lower case. | Lower case only. | No capitals, please. |
All lower case, please. | Small letters only. | Everything in small letters. | Write all answers in lower case. |
Your answers are in small letters. | Only lower case. | Use small letters. | Put every answer in lower case. |
Avoid capital letters. | Please answer in lower case. | Each answer must be in lower case. | You never use capitals. |
No upper case letters. | No caps. | Lower case answers, please. | Your keyboard has no capitals. |
write in lower case. | Respond in small letters.""")
WORD = phrases("""Answer with one word. | One word only. | Reply with a single word. |
Give only the answer, nothing else. | Answer with just the value. | Only the bare answer. |
Use as few words as possible. | Just the answer, no sentence. |
Short answers: one word. | Answer in one word. | A single word, please. | No sentences. | Do not write sentences. |
Only the value. | Give the value alone. | Say only the answer. | Your answers have one word. |
One word answers, please. | Be as short as you can. | Reply with the bare value. | Respond with one word. |
Only one word per answer. | Give one word answers. | Keep it to one word. | Nothing but the answer. |
Write just the value, no sentence.""")
JSON_ONLY = phrases("""Answer as JSON with the key {k}. | Reply only with JSON: {{"{k}": ...}} |
JSON only, key {k}. | Always answer with a JSON object that has the key {k}. |
Output JSON with one key, {k}. | Your answers are JSON objects with the field {k}. |
Return JSON like {{"{k}": "..."}} |
Use JSON with the key {k}. | Only JSON, please. The key is {k}. | Respond with JSON. Key: {k} |
JSON answers with the field {k}. | Every answer is {{"{k}": ...}} | Write {{"{k}": "..."}} and nothing else. |
You speak JSON with the key {k}. | Put your answer in JSON under {k}. | Give JSON objects with {k}. |
Format: {{"{k}": ...}} | Reply in JSON, field {k}. | Your output is JSON with the key {k}. |
A JSON object with {k}, nothing else. | Answer in the form {{"{k}": ...}}""")
ENDING = phrases("""End every answer with {w}. | Always finish with the word {w}. |
Your last word is always {w}. | Close each answer with {w}. | After each answer write {w}. |
Add {w} to the end of every answer. |
Say {w} at the end of each answer. | Finish every answer with {w}. | The last word of each answer is {w}. |
Put {w} at the end. | Each answer ends with {w}. | End with {w}. | Every reply closes with {w}. |
Write {w} after your answer. | Your answers end in {w}. | After the answer, say {w}. | Append {w} to every answer. |
Never forget to end with {w}.""")
OPENING = phrases("""Begin every answer with {w}. | Always start with the word {w}. |
Your first word is always {w}. | Open each answer with {w}. | Before each answer write {w}. |
Put {w} in front of every answer. |
Say {w} at the start of each answer. | Start every answer with {w}. | The first word of each answer is {w}. |
Put {w} at the start. | Each answer begins with {w}. | Begin with {w}. | Every reply opens with {w}. |
Write {w} before your answer. | Your answers start with {w}. | Before the answer, say {w}. |
First say {w}, then answer. | Never forget to begin with {w}.""")


def _ask(source: Source) -> tuple[str, str, str]:
    if source.chance(0.2):
        question, _, answer = sum_round(source)
        return question, answer, answer.split()[-1]
    return facts.fact(source)


def make_style(source: Source) -> Sample:
    kind = source.integer(0, 5)
    word = words.made_up(source) if source.chance(0.5) else source.one(words.COMMON)
    key = source.any(("answer", "result", "value", "text", "reply"))
    head = worded(source, (UPPER, LOWER, WORD, JSON_ONLY, ENDING, OPENING)[kind], k=key, w=word)
    turns: list[Message] = [system(head)]
    answer = ""
    for _ in range(source.integer(1, 5)):
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
