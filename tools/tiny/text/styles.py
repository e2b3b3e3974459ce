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
Your keyboard has only capitals. | WRITE IN CAPS. | Respond in upper case letters. |
Do not use small letters. | Reply by shouting. | Do not write in lower case. | Always answer in upper case. |
Always use capital letters. | Always reply in capitals. | Please write in capital letters. |
Please use only capital letters. | Please type in upper case. | Write in all caps. | Write in upper case only. |
Write every word in capitals. | Write each word in upper case letters. | Write all words in capital letters. |
Answer in all caps. | Answer in capital letters. | Answer only in capitals. | Answer every question in upper case. |
Answer as if you shout. | Answer by shouting in capitals. | Reply in upper case letters. | Reply in capital letters. |
Respond in capitals. | Respond only in capital letters. | Use upper case for every answer. |
Use caps for all answers. | Use capitals for all words. | Use no lower case. | Never use lower case. |
Never write in lower case. | Do not use lower case letters. | No small letters, please. |
Small letters are forbidden, use capitals. | Lower case is forbidden. | Your answers are all caps. |
Your answers must be in capitals. | All answers are in upper case. | All letters must be capitals. |
Every letter is a capital letter. | Every letter must be upper case. | Each answer in all caps. | Speak in capitals. |
Speak in upper case. | Shout all your answers. | Shout everything in upper case. | You write in caps. |
You type everything in capitals. | You answer in upper case. | You only know capital letters. |
The user wants capitals only. | The user reads only upper case. | I want all answers in capitals. |
Your caps lock is on. | Leave caps lock on. | Caps lock is always on. | all caps | upper case | REPLY IN CAPITALS.""")
LOWER = phrases("""Answer in lower case. | Use only lower case letters. | Never use capital letters. |
Reply in lower case. | You write everything in lower case. | Lower case only. | No capitals, please. |
All lower case, please. | Small letters only. | Everything in small letters. | Write all answers in lower case. |
Your answers are in small letters. | Only lower case. | Use small letters. | Put every answer in lower case. |
Avoid capital letters. | Please answer in lower case. | Each answer must be in lower case. | You never use capitals. |
No upper case letters. | No caps. | Lower case answers, please. | Your keyboard has no capitals. |
write in lower case. | Respond in small letters. |
The user wants lower case. | Put everything in small letters. | Always answer in lower case. |
Always use small letters. | Always reply in lower case. | Please write in lower case. |
Please use only small letters. | Please type in lower case. | Please do not use capitals. | Write in small letters. |
Write in lower case only. | Write every word in lower case. | Write each word in small letters. |
Write without capitals. | Write without capital letters. | Answer in small letters. | Answer only in lower case. |
Answer without capital letters. | Answer every question in lower case. | Reply in small letters. |
Reply in lower case letters. | Reply without capitals. | Respond in lower case. | Respond only in small letters. |
Respond without capital letters. | Use lower case for every answer. | Use small letters for all answers. |
Use small letters for every word. | Use no capitals. | Use no capital letters. | Use no upper case. |
Never use upper case. | Never write in capitals. | Never write in upper case. | Do not use capital letters. |
Do not use upper case. | No upper case, please. | No capitals, only small letters. | Capital letters are forbidden. |
Capitals are forbidden, use small letters. | Upper case is forbidden. | Your answers are in lower case. |
Your answers must be in small letters. | Your answers have no capitals. | All answers are in lower case. |
All letters must be small. | Every letter is a small letter. | Every letter must be lower case. |
Each answer in small letters. | Type in small letters. | Speak in lower case. | Speak in small letters. |
You write in small letters. | You type everything in lower case. | You answer in lower case. |
You do not know capital letters. | You only know small letters. | The user wants small letters only. |
The user does not like capitals. | I want all answers in lower case. | Even names are in lower case. |
Even names are in small letters. | lower case | no capitals""")
WORD = phrases("""Answer with one word. | One word only. | Reply with a single word. |
Give only the answer, nothing else. | Answer with just the value. | Only the bare answer. |
Use as few words as possible. | Just the answer, no sentence. |
Short answers: one word. | Answer in one word. | A single word, please. | No sentences. | Do not write sentences. |
Only the value. | Give the value alone. | Say only the answer. | Your answers have one word. |
One word answers, please. | Be as short as you can. | Reply with the bare value. | Respond with one word. |
Only one word per answer. | Give one word answers. | Keep it to one word. | Nothing but the answer. |
Write just the value, no sentence. |
Reply without a sentence. | Do not write full sentences. | Always answer with one word. |
Always give the bare answer. | Please answer with a single word. | Please give only the answer. |
Answer only with the value. | Answer only with one word. | Answer with the bare value. | Answer without sentences. |
Answer every question with one word. | Answer in as few words as possible. | Reply with one word only. |
Reply with only the value. | Reply with just the answer. | Reply without sentences. | Respond with a single word. |
Respond with the value only. | Respond with just the answer. | Give just the answer. | Give just the value. |
Give only the bare value. | Give the answer alone. | Give the answer and nothing else. |
Give the bare answer, no sentence. | Give the shortest answer. | Give the shortest possible answer. |
Write only one word. | Write only the answer. | Write no sentences. | Write nothing but the answer. |
Write nothing but the value. | Say just one word. | Say only the value. | Say the answer and nothing else. |
Use one word for every answer. | Use only one word. | Use no sentences. | Do not use sentences. |
Do not answer in sentences. | Do not write more than one word. | Never write a sentence. |
Never use more than one word. | No full sentences. | No sentence, just the answer. | No sentences, just the value. |
Nothing but the value. | Only the answer, no sentence. | Only the value, nothing else. | Only one word, please. |
Just one word. | Just the value, please. | Just the bare answer. | The shortest answer, please. |
The value and nothing else. | Every answer is a single word. | Every answer is just the value. |
Each answer is one word long. | Your answers are single words. | Your answers are not sentences. |
Keep answers to a single word. | I want only the answer. | I want one word answers. | I only need the value. |
The user wants only the answer. | You answer with one word. | You never write sentences. | one word | value only""")
JSON_ONLY = phrases("""Answer as JSON with the key {k}. | Reply only with JSON: {{"{k}": ...}} |
JSON only, key {k}. | Always answer with a JSON object that has the key {k}. |
Output JSON with one key, {k}. | Your answers are JSON objects with the field {k}. |
Return JSON like {{"{k}": "..."}} |
Use JSON with the key {k}. | Only JSON, please. The key is {k}. | Respond with JSON. Key: {k} |
JSON answers with the field {k}. | Every answer is {{"{k}": ...}} | Write {{"{k}": "..."}} and nothing else. |
You speak JSON with the key {k}. | Put your answer in JSON under {k}. | Give JSON objects with {k}. |
Format: {{"{k}": ...}} | Reply in JSON, field {k}. | Your output is JSON with the key {k}. |
A JSON object with {k}, nothing else. | Answer in the form {{"{k}": ...}} |
Write no text, only JSON with the key {k}. | I want every answer as JSON with the field {k}. |
Text outside JSON is forbidden. The key is {k}. | Always use JSON with the key {k}. | Always answer as JSON, key {k}. |
Please answer as JSON with the key {k}. | Please use JSON, the key is {k}. |
Answer only with JSON that has the key {k}. | Answer with a JSON object. Its key is {k}. |
Answer with JSON: {{"{k}": ...}} | Answer like this: {{"{k}": "..."}} | Answer in JSON. The field is {k}. |
Answer every question as JSON with the field {k}. | Reply as JSON with the field {k}. |
Reply with a JSON object with the key {k}. | Reply like this: {{"{k}": ...}} | Respond only with JSON, field {k}. |
Respond with {{"{k}": "..."}} and nothing else. | Respond with a JSON object that has the field {k}. |
Return JSON with the key {k}. | Return only JSON with one field, {k}. | Return {{"{k}": ...}} and nothing else. |
Output only JSON. Key: {k} | Output a JSON object with the key {k}. | Output {{"{k}": "..."}} for every answer. |
Write JSON with the key {k}. | Write JSON only, field {k}. | Write every answer as {{"{k}": ...}} |
Give every answer as JSON with the key {k}. | Give the answer as {{"{k}": "..."}} |
Put every answer in JSON. The key is {k}. | Put the answer under the key {k} in JSON. |
Put the answer in the field {k} of a JSON object. | Put your answer here: {{"{k}": "..."}} |
Wrap every answer in JSON with the key {k}. | Wrap your answer like this: {{"{k}": ...}} |
Wrap the answer in a JSON object under {k}. | The answer goes into {{"{k}": "..."}} |
The answer goes into the JSON field {k}. | The format is {{"{k}": ...}} | The format is JSON with the key {k}. |
The key is {k}. Answer in JSON. | The field is {k}. Reply only in JSON. | Key {k}, JSON only. | JSON with the key {k} |
JSON: {{"{k}": ...}} | JSON only: {{"{k}": "..."}} | JSON format, key {k}. |
{{"{k}": ...}} is the form of every answer. | {{"{k}": "..."}} is your format. |
Under the key {k}, give your answer as JSON. | Every reply is a JSON object with the key {k}. |
Every answer goes in JSON under {k}. | Each answer looks like {{"{k}": "..."}} |
Your replies look like {{"{k}": ...}} | You answer in JSON with the key {k}. |
You return JSON objects with the field {k}. | You only write {{"{k}": "..."}} | Nothing but JSON with the key {k}. |
No text outside JSON. The key is {k}. | Use this format: {{"{k}": ...}} | Use a JSON object with one key, {k}. |
I want JSON with the key {k}. | I need every answer as {{"{k}": ...}} |
A program reads your JSON. It needs the key {k}.""")
ENDING = phrases("""End every answer with {w}. | Always finish with the word {w}. |
Your last word is always {w}. | Close each answer with {w}. | After each answer write {w}. |
Add {w} to the end of every answer. |
Say {w} at the end of each answer. | Finish every answer with {w}. | The last word of each answer is {w}. |
Put {w} at the end. | Each answer ends with {w}. | End with {w}. | Every reply closes with {w}. |
Write {w} after your answer. | Your answers end in {w}. | After the answer, say {w}. | Append {w} to every answer. |
Never forget to end with {w}. |
The word {w} goes after every answer. | Each reply ends in {w}. | End all answers with {w}. |
End your answers with {w}. | End each reply with {w}. | Always end with {w}. | Always close with {w}. |
Always put {w} after your answer. | Always add {w} at the end. | Finish with {w}. |
Finish each answer with the word {w}. | Finish all answers with {w}. | Close with {w}. |
Close every reply with the word {w}. | Add {w} after each answer. | Add the word {w} at the end of each reply. |
Append the word {w} to each answer. | Append {w} to your replies. | Put {w} at the end of each answer. |
Put the word {w} after every answer. | Put {w} last. | Say {w} after every answer. | Say {w} when you finish. |
Say the word {w} at the end. | Write {w} at the end of every answer. | Write {w} last. | Answer, then add {w}. |
Answer, then say {w}. | First answer, then say {w}. | First answer, then write {w}. | After every answer comes {w}. |
After every answer, add {w}. | At the end of each answer, say {w}. | At the end of every answer, write {w}. |
At the end comes the word {w}. | The last word of every answer must be {w}. | The last thing you say is {w}. |
The last thing you write is {w}. | {w} is your last word. | {w} is the last word of each answer. |
{w} comes at the end of every answer. | {w} comes last. | {w} goes at the end. | Every answer ends with {w}. |
Every answer closes with the word {w}. | Each reply ends with {w}. | Your answers end with {w}. |
Your answers always finish with {w}. | Your final word is {w}. | You end with {w}. | You finish each answer with {w}. |
You always say {w} at the end. | Never end without {w}. | Never finish an answer without {w}. |
Do not forget {w} at the end. | Do not forget to end with {w}. | I want {w} at the end. |
I want every answer to end with {w}. | Make {w} your last word. | Let every answer end with {w}.""")
OPENING = phrases("""Begin every answer with {w}. | Always start with the word {w}. |
Your first word is always {w}. | Open each answer with {w}. | Before each answer write {w}. |
Put {w} in front of every answer. |
Say {w} at the start of each answer. | Start every answer with {w}. | The first word of each answer is {w}. |
Put {w} at the start. | Each answer begins with {w}. | Begin with {w}. | Every reply opens with {w}. |
Write {w} before your answer. | Your answers start with {w}. | Before the answer, say {w}. |
First say {w}, then answer. | Never forget to begin with {w}. |
Say {w} when you start. | Begin all answers with {w}. | Begin your answers with {w}. | Begin each reply with {w}. |
Always begin with {w}. | Always open with {w}. | Always put {w} before your answer. | Always say {w} first. |
Start with {w}. | Start each answer with the word {w}. | Start all answers with {w}. | Open with {w}. |
Open every reply with the word {w}. | Put {w} before each answer. | Put {w} at the start of each answer. |
Put the word {w} before every answer. | Put the word {w} in front of your replies. | Put {w} first. |
Say {w} before every answer. | Say {w} when you begin. | Say the word {w} at the start. |
Write {w} at the start of every answer. | Write {w} in front of each reply. | Write {w} first. |
Say {w}, then answer. | Write {w}, then answer. | First write {w}, then answer. | First comes {w}, then your answer. |
Before every answer comes {w}. | Before every answer, say {w}. | At the start of each answer, say {w}. |
At the start of every answer, write {w}. | At the start comes the word {w}. |
At the beginning of every answer, put {w}. | At the beginning, say {w}. | The first word of every answer must be {w}. |
The first thing you say is {w}. | The first thing you write is {w}. | {w} is your first word. |
{w} is the first word of each answer. | {w} comes at the beginning of every answer. | {w} comes first. |
{w} goes at the start. | Every answer begins with {w}. | Every answer opens with the word {w}. |
Each reply starts with {w}. | Your answers begin with {w}. | Your answers always start with {w}. |
You begin with {w}. | You start each answer with {w}. | You always say {w} at the beginning. |
Never begin without {w}. | Never start an answer without {w}. | Do not forget {w} at the start. |
Do not forget to begin with {w}. | I want {w} in front. | I want every answer to begin with {w}. |
Make {w} your first word. | Let every answer start with {w}.""")


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
