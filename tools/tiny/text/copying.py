"""Repeat, quote, pick out: the exercise from which exact copying is learned."""

from tools.tiny.text import words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

REPEAT = phrases("""Repeat: {x} | Repeat this: {x} | Say {x} | Say this: {x} | Copy: {x} | Echo {x} |
Please repeat {x} | Write this back to me: {x} | Repeat after me: {x} | Please say: {x} | Type {x} |
Print: {x} | Just write {x} | Can you repeat this? {x} | Answer with exactly this: {x} | Output {x} |
Reply with: {x} | Say exactly: {x} | Please echo: {x} | Return this text: {x} |
Repeat "{x}" | Repeat exactly: {x} | Repeat this exactly: {x} | Repeat this text: {x} | Repeat the text: {x} |
Repeat the words: {x} | Repeat these words: {x} | Repeat the following: {x} | Repeat the following text:\n{x} |
Repeat what I write: {x} | Repeat what I say: {x} | Repeat this line: {x} | Repeat this without changes: {x} |
Say "{x}" | Say this exactly: {x} | Say this back to me: {x} | Say what I say: {x} | Say the following: {x} |
Say the words {x} | Say after me: {x} | Say only this: {x} | Say just {x} | Say it like this: {x} | Copy this: {x} |
Copy "{x}" | Copy this text: {x} | Copy the following text: {x} | Copy this line exactly: {x} | Copy the words {x} |
Copy without changes: {x} | Echo this: {x} | Echo "{x}" | Echo this text: {x} | Echo back: {x} |
Echo the following: {x} | Echo what I write: {x} | Write "{x}" | Write this: {x} | Write exactly this: {x} |
Write the following: {x} | Write the words {x} | Write what I write: {x} | Write this line again: {x} |
Write only this: {x} | Type this: {x} | Type "{x}" | Type exactly: {x} | Type the following: {x} |
Type these words: {x} | Print this: {x} | Print "{x}" | Print exactly this: {x} | Print this text: {x} |
Print the following line: {x} | Output this: {x} | Output exactly {x} | Output "{x}" |
Output this text without changes: {x} | Output only: {x} | Return {x} | Return exactly this: {x} |
Return the text {x} | Return "{x}" | Return the same text: {x} | Reply with exactly: {x} | Reply with this text: {x} |
Reply with "{x}" | Reply only with {x} | Answer with {x} | Answer with this: {x} | Answer with "{x}" |
Answer with exactly {x} | Answer with the same words: {x} | Answer only this: {x} | Answer just {x} |
Respond with {x} | Respond with exactly this: {x} | Respond with "{x}" | Respond with the text {x} |
Give this back: {x} | Give me this back: {x} | Give back exactly this: {x} | Give me the same text back: {x} |
Give me the same words: {x} | Send this back to me: {x} | Send back exactly: {x} | Send me the same text: {x} |
Read this back to me: {x} | Read back: {x} | Read out: {x} | Read this out: {x} | Can you say exactly this? {x} |
Can you give this back to me? {x} | Can you write the same text? {x} | I want to hear {x} | I want to read {x} |
I want to see the same text: {x} | I want to hear you say: {x} | I want this text back: {x} |
I would like to hear: {x} | I need this text again: {x} | I need the same text back: {x} | I say, you repeat: {x} |
I say {x}\nYou repeat it. | I write this: {x}\nCopy it. | Let me hear you say {x} | Let me hear: {x} |
Let me see you write {x} | Let me read this again: {x} | Do as I do: {x} | Do you hear me? Repeat: {x} |
Please copy this exactly: {x} | Please repeat the words "{x}". | Please give back: {x} | Text to repeat: {x} |
Text to copy: {x} | The text to repeat: {x} | The text to echo: {x} | The words to say: {x} | Words to repeat: {x} |
This is what you say: {x} | This is what I want to hear: {x} | This is the text to copy: {x} | This exactly: {x} |
Exactly this: {x} | Exactly this text, please: {x} | The same text back, please: {x} | The same again: {x} |
The same words, please: {x} | Your answer is {x} | Your answer must be {x} | Your answer must be exactly: {x} |
Your reply is: {x} | Your reply must be {x} | Your next words are: {x} | Once more: {x} | Once again: {x} |
Again: {x} | A test. Repeat this: {x} | A test. Copy exactly: {x} | After me: {x} | {x}\nRepeat this. |
{x}\nRepeat that. | {x}\nRepeat the line above. | {x}\nSay that again. | {x}\nSay this back to me. | {x}\nCopy this. |
{x}\nCopy the line above. | {x}\nCopy that exactly. | {x}\nEcho this. | {x}\nWrite the same. | {x}\nWrite that again. |
{x}\nNow you say it. | {x}\nCan you repeat this? | {x}\nCan you say that? | {x}\nPlease repeat. |
{x}\nGive me the same text. | {x}\nReply with the same text. | "{x}"\nRepeat this. | "{x}"\nCopy this text. |
"{x}" - say it. | "{x}" - please repeat.""")
SPELL = phrases("""Spell {x}. | How do you spell {x}? | Spell the word {x}. | Please spell {x}. |
Spell out {x}. | Can you spell {x}? | Give me the letters of {x}. | What letters are in {x}? |
{x} spelled out | {x}: spell it. | {x}: the letters? | {x}: how is it spelled? | {x}, letter by letter. |
Spell this: {x} | Spell this word: {x} | Spell "{x}". | Spell the word "{x}". | Spell {x} letter by letter. |
Spell {x} with all its letters. | Spell out the word {x}. | Spell out "{x}". | Spell out the letters of {x}. |
Spell it out: {x} | Spell it for me: {x} | Please write {x} letter by letter. | Can you say {x} letter by letter? |
Could you write the letters of {x}? | Do you know how to spell {x}? | Do you know how {x} is spelled? |
Do you know the letters of {x}? | Do you know the spelling of {x}? | How is {x} spelled? |
How is the word {x} spelled? | How is "{x}" spelled? | How is {x} spelled, letter by letter? | How do I spell {x}? |
How do I spell the word {x}? | How do you spell the word {x}? | How do you spell "{x}"? | How do we spell {x}? |
How do I write {x} letter by letter? | How would you spell {x}? | How to spell {x}? | What are the letters of {x}? |
What are the letters in {x}? | What are the letters of the word {x}? | What is the spelling of {x}? |
What is the spelling of the word {x}? | What is {x} letter by letter? | What is {x} when spelled out? |
What letters does {x} have? | What letters does the word {x} have? | What letters make up {x}? |
What letters spell {x}? | Which letters are in {x}? | Which letters are in the word {x}? |
Which letters does {x} have? | Which letters make up the word {x}? | Which letters spell {x}? | The spelling of {x}? |
The letters of {x}? | The letters of the word {x}. | The word {x}, letter by letter. | The word is {x}. Spell it. |
The word is {x}. How do you spell it? | Spelling of {x}? | Spelling: {x} | Spelling of the word {x}? |
Letters of {x}? | Letter by letter: {x} | Letter by letter: what is {x}? | Give me {x} letter by letter. |
Give me the spelling of {x}. | Give me the letters of the word {x}. | Give me every letter of {x}. |
Give the letters of {x} one by one. | Give the spelling of the word {x}. | Tell me how to spell {x}. |
Tell me how {x} is spelled. | Tell me the letters of {x}. | Tell me the spelling of {x}. | Tell me how you spell {x}. |
Say the letters of {x}. | Say the letters of {x} one by one. | Say how {x} is spelled. |
Write the letters of {x} one by one. | Write the word {x} letter by letter. | Write out the letters of {x}. |
List the letters of {x}. | List the letters of {x} one by one. | List all letters of the word {x}. |
Show me the letters of {x}. | Show me how to spell {x}. | Show me the spelling of {x}. | Name the letters of {x}. |
Name the letters in the word {x}. | Name each letter of {x}. | I cannot spell {x}. | I cannot spell {x}. Can you? |
I can't spell {x}. Help me. | I don't know how to spell {x}. | I do not know how {x} is spelled. |
I forgot how to spell {x}. | I forgot the spelling of {x}. | I need the spelling of {x}. | I need to spell {x}. |
I need the letters of {x}. | I want to spell {x}. | I want to know how to spell {x}. | I want the letters of {x}. |
Help me spell {x}. | Help me to spell the word {x}. | Let me hear you spell {x}. | Next word to spell: {x} |
Every letter of {x}, please. | Each letter of {x}, one by one. | One letter at a time: {x} |
One letter at a time, spell {x}.""")
KEYED = phrases("""What is {k}? | Give me {k}. | {k}? | And {k}? | Tell me {k}. | Value of {k}? |
Look up {k}. | What value has {k}? | Which value belongs to {k}? | Please read {k}. |
What does {k} say? | What is stored under {k}? | The value of {k}, please. | Find {k}. | What stands next to {k}? |
I need {k}. | Say {k} for me. | What about {k}? | Show {k}. | Now {k}. | Which one is {k}? | What is at {k}? |
Entry of {k}? | Get {k}. |
{k} is what? | {k} = | {k} has which value? | {k} has what value? | {k} stands for what? | {k} goes with what? |
{k} belongs to what? | {k}: which value? | {k}: what is it? | {k} in the list? | What's the value of {k}? |
What is the value for {k}? | What is the entry for {k}? | What is the entry of {k}? | What is in the list for {k}? |
What is in the list under {k}? | What is written at {k}? | What is written next to {k}? | What is written for {k}? |
What is given for {k}? | What is listed for {k}? | What is listed under {k}? | What is noted for {k}? |
What is next to {k}? | What is stored for {k}? | What is stored at {k}? | What is found under {k}? |
What is found at {k}? | What stands at {k}? | What stands behind {k}? | What stands under {k}? | What belongs to {k}? |
What goes with {k}? | What value does {k} have? | What value goes with {k}? | What value is stored under {k}? |
What value is listed for {k}? | What value stands next to {k}? | What value is given for {k}? |
What does the list say for {k}? | What does the list say about {k}? | What does the list give for {k}? |
What does {k} have? | What does {k} stand for? | What does it say for {k}? | What does it say at {k}? |
What do you find under {k}? | What do you find for {k}? | What do you have for {k}? | What do I find at {k}? |
What do we have for {k}? | What entry does {k} have? | What was {k}? | What was the value of {k}? |
Which value has the key {k}? | Which value is stored under {k}? | Which value is listed for {k}? |
Which value goes with {k}? | Which value stands at {k}? | Which value does {k} have? | Which value is given for {k}? |
Which entry has {k}? | Which entry belongs to {k}? | Which entry goes with {k}? | Which one belongs to {k}? |
Which one goes with {k}? | Which one stands next to {k}? | The value for {k}? | The value of the key {k}, please. |
The value at {k}? | The entry for {k}? | The entry of {k}, please. | The key is {k}. What is the value? |
The key is {k}. Which value has it? | Key: {k} | Key: {k}. Value? | Value for {k}? | Value of the key {k}? |
Value: {k}? | Entry for {k}? | Look up the value of {k}. | Look up {k} in the list. | Look up the entry for {k}. |
Look up the key {k}. | Look under {k}. What is there? | Look at {k}. What does it say? | Find the value of {k}. |
Find {k} in the list. | Find the entry for {k}. | Find what belongs to {k}. | Give me the value of {k}. |
Give me the value for {k}. | Give me the entry for {k}. | Give me the entry of {k}. | Give me what belongs to {k}. |
Tell me the value of {k}. | Tell me the entry for {k}. | Tell me what {k} is. | Tell me what is stored under {k}. |
Tell me what stands next to {k}. | Tell me what belongs to {k}. | Tell me what you have for {k}. |
Say the value of {k}. | Say what {k} is. | Say what belongs to {k}. | Say what is listed for {k}. | Show me {k}. |
Show me the value of {k}. | Show me the entry for {k}. | Show the value for {k}. | Read me the value of {k}. |
Read me {k}. | Read the entry for {k}. | Read out {k}. | Get me the value of {k}. | Get the value for {k}. |
Get the entry of {k}. | Return the value of {k}. | Return {k}. | Return the entry for {k}. | Print the value of {k}. |
Print {k}. | Check {k}. | Check the value of {k}. | Check the list for {k}. | Do you know {k}? |
Do you know the value of {k}? | Do you remember {k}? | Do you remember the value of {k}? | Do you have {k}? |
Do you have a value for {k}? | Do you see {k}? What is its value? | I need the value of {k}. |
I need the entry for {k}. | I need to know {k}. | I need to look up {k}. | I want {k}. |
I want to know the value of {k}. | I want the value for {k}. | I want to know what {k} is. | I would like {k}. |
I would like to know {k}. | I would like the value of {k}. | I am looking for {k}. |
I am looking for the value of {k}. | I look for {k}. What is the value? | I forgot {k}. | I forgot the value of {k}. |
I have {k}. What is its value? | I have the key {k}. What is the value? | For {k}, what is the value? |
For {k}, what does the list say? | For the key {k}? | Under {k} is what? | Under {k}, what do you find? |
Next to {k} stands what? | Next to {k} is which value? | At {k} stands what? | With {k} goes what? |
In the list, what is {k}? | In the list, what belongs to {k}? | In the list, which value has {k}? | And for {k}? |
How about {k}? | Let me see {k}. | Let me have the value of {k}. | Remind me of {k}. |
Remind me of the value of {k}.""")
TABLES = phrases("""Remember:\n{t}\n | Here is a list:\n{t}\n | Notes:\n{t}\n | {t}\n | Data:\n{t}\n |
Values:\n{t}\n |
Remember this:\n{t}\n | Remember this list:\n{t}\n | Remember these values:\n{t}\n | Please remember:\n{t}\n |
Here is my list:\n{t}\n | Here is the list:\n{t}\n | Here is a table:\n{t}\n | Here is the table:\n{t}\n |
Here is some data:\n{t}\n | Here is the data:\n{t}\n | Here are my notes:\n{t}\n | Here are the values:\n{t}\n |
Here are some values:\n{t}\n | This is the list:\n{t}\n | This is my table:\n{t}\n | This is the data:\n{t}\n |
These are the values:\n{t}\n | These are my notes:\n{t}\n | I have this list:\n{t}\n | I have these values:\n{t}\n |
I have a table:\n{t}\n | I wrote these notes:\n{t}\n | I wrote this list:\n{t}\n | I know this:\n{t}\n |
Look at this list:\n{t}\n | Look at this table:\n{t}\n | Look at the data:\n{t}\n | Read this list:\n{t}\n |
Read this table:\n{t}\n | Read my notes:\n{t}\n | Use this list:\n{t}\n | Use this table:\n{t}\n |
Use this data:\n{t}\n | Use these values:\n{t}\n | Keep this list in mind:\n{t}\n | Keep these values in mind:\n{t}\n |
From this list:\n{t}\n | From this table:\n{t}\n | In this list:\n{t}\n | In this table:\n{t}\n |
With these values:\n{t}\n | My list:\n{t}\n | My notes:\n{t}\n | My data:\n{t}\n | The list:\n{t}\n |
The table:\n{t}\n | The values:\n{t}\n | The data:\n{t}\n | List:\n{t}\n | Table:\n{t}\n | Entries:\n{t}\n |
Here are the entries:\n{t}\n | The entries are:\n{t}\n | The values are:\n{t}\n | You know these values:\n{t}\n |
You know this list:\n{t}\n | {t}\n\n | List:\n\n{t}\n\n | Table:\n\n{t}\n\n | Data:\n\n{t}\n\n |
Here is the table.\n\n{t}\n\n""")


def _piece(source: Source) -> str:
    return source.any(
        (words.fragments, words.syllables, words.identifier, words.phrase, words.full_name, words.city, words.email)
    )(source)


def _text(source: Source) -> str:
    return " ".join(_piece(source) for _ in range(source.integer(1, 3)))


def _repeat(source: Source) -> tuple[str, str]:
    text = _text(source)
    return worded(source, REPEAT, x=text), text


def _spell(source: Source) -> tuple[str, str]:
    word = words.made_up(source) if source.chance(0.5) else source.one(words.COMMON)
    return worded(source, SPELL, x=word), "-".join(word)


def make_copying(source: Source) -> Sample:
    """One to five strings to give back."""
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 5)):
        question, answer = (_spell if source.chance(0.1) else _repeat)(source)
        turns += [user(question), assistant(answer)]
    return Sample("copying", tuple(turns), Check("exact", answer))


def make_keyed(source: Source) -> Sample:
    """A table of keys and values, then a few look-ups."""
    makers = (words.fragments, words.syllables, words.identifier, words.first_name, words.city)
    key_of, value_of = source.any(makers), source.any((*makers, words.phrase))
    table = {key_of(source): value_of(source) for _ in range(source.integer(2, 7))}
    mark = source.any((": ", " = ", " -> ", " is "))
    asked = source.random.sample(sorted(table), min(len(table), source.integer(1, 4)))
    text = "\n".join(f"{key}{mark}{value}" for key, value in table.items())
    turns: list[Message] = []
    for position, key in enumerate(asked):
        intro = worded(source, TABLES, t=text) if position == 0 else ""
        turns += [user(intro + worded(source, KEYED, k=key)), assistant(table[key])]
    return Sample("copying", tuple(turns), Check("exact", table[asked[-1]]))
