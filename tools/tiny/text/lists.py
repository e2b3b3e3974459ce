"""Lists: repeat, reverse, sort, count, pick, continue."""

from tools.tiny.text import words
from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, user
from tools.tiny.text.source import Source, phrases

ORDINALS = ("first", "second", "third", "fourth", "fifth")
REPEAT = phrases("""Repeat the list: {l} | Repeat this list: {l} | Say the list again: {l} |
Copy the list {l} | Echo the list {l} | Write the list {l} | Give the list back: {l} | List again: {l} |
Say the list: {l} | Once more: {l} | The same list: {l} | Read out the list: {l} | List it again: {l} |
Return the list: {l} | Recite {l} | Print the list {l} |
Repeat the following list: {l} | Repeat the whole list: {l} | Repeat my list: {l} | Repeat all items: {l} |
Repeat these items: {l} | Repeat these in the same order: {l} | Repeat the items of this list: {l} |
Say these items again: {l} | Say my list: {l} | Say the whole list once more: {l} | Say all the items: {l} |
Say the items in the same order: {l} | Copy this list: {l} | Copy the whole list: {l} | Copy the items: {l} |
Copy my list: {l} | Copy these items in the same order: {l} | Echo this list: {l} | Echo my list: {l} |
Echo the items: {l} | Write this list again: {l} | Write the same list: {l} | Write out the list: {l} |
Write the items in the same order: {l} | Write my list once more: {l} | Give me the list again: {l} |
Give me the same list: {l} | Give the same items: {l} | Give back this list: {l} | Give my list back to me: {l} |
Return this list: {l} | Return the same list: {l} | Return the items in the same order: {l} | Print this list: {l} |
Print the items: {l} | Print my list again: {l} | Recite the list: {l} | Recite these items: {l} |
Recite my list once more: {l} | Read out these items: {l} | Read the list back to me: {l} | Read my list back: {l} |
Read the list out: {l} | List the same items: {l} | List these items again: {l} | The list again, please: {l} |
The list once more: {l} | The same list once more, please: {l} | The same items again: {l} |
I want the same list back: {l} | I want to hear the list again: {l} | I want to see the same list: {l} |
I need this list again: {l} | This is my list. Repeat it: {l} | This is the list. Say it again: {l} |
Here is a list. Copy it: {l} | Here is my list. Read it back: {l} | {l}\nRepeat this list. | {l}\nRepeat the list. |
{l}\nSay the list again. | {l}\nNow copy this list. | {l}\nGive me the same list.""")
REVERSE = phrases("""Reverse the list: {l} | Reverse this: {l} | Write it backwards: {l} |
Turn the list around: {l} | List in reverse order: {l} | Say backwards: {l} | Reverse {l} |
Put in the opposite order: {l} |
Backwards: {l} | From last to first: {l} | Read it backwards: {l} | Flip the list: {l} | Reversed: {l} |
The other way round: {l} | Invert the order: {l} | Start with the last: {l} | List backwards: {l} | Turn around: {l} |
Give the reverse of {l} |
reverse this list: {l} | Reverse the order: {l} | Reverse the order of this list: {l} |
Reverse the order of the items: {l} | Reverse these items: {l} | Reverse my list: {l} | Reverse order: {l} |
In reverse: {l} | In reverse order: {l} | In the opposite order: {l} | In backward order: {l} |
Put in reverse order: {l} | Put this list in reverse order: {l} | Put these items in reverse: {l} |
Put the list in the opposite order: {l} | Put the last item first: {l} | Put the last first and the first last: {l} |
Write in reverse: {l} | Write in reverse order: {l} | Write the list backwards: {l} |
Write the list from last to first: {l} | Write these in the opposite order: {l} | Write it the other way round: {l} |
Say the list backwards: {l} | Say it backwards: {l} | Say these items in reverse order: {l} |
Say the items from last to first: {l} | Read the list backwards: {l} | Read from the end: {l} |
Read from the end to the beginning: {l} | Read these from last to first: {l} | Give me the list backwards: {l} |
Give me the list in reverse order: {l} | Give me these in the opposite order: {l} |
Give me this list from the end to the beginning: {l} | Give the items in reverse: {l} | List these backwards: {l} |
List the items from last to first: {l} | List the items in the opposite order: {l} | List from the end: {l} |
Turn this list around: {l} | Turn the order around: {l} | Turn around the order of these items: {l} |
Turn it the other way round: {l} | Flip this list: {l} | Flip the order: {l} | Flip the order of the items: {l} |
Flip: {l} | Invert this list: {l} | Invert the list: {l} | Invert the order of the items: {l} |
Start from the end: {l} | Start at the end of the list: {l} | Start with the last item: {l} |
Begin with the last item: {l} | Begin at the end: {l} | Begin with the last one and end with the first: {l} |
From the end to the beginning: {l} | From the last to the first item: {l} | The list backwards: {l} |
The list in reverse, please: {l} | The opposite order: {l} | The other way around, please: {l} |
The reverse of this list: {l} | What is the reverse of {l}? | What is this list backwards? {l} |
What is the list in reverse order? {l} | What does this list look like backwards? {l} |
How does this list read backwards? {l} | How does the list go in reverse? {l} | Can you say this backwards? {l} |
Can you flip the order of this list? {l} | Could you put these in reverse order? {l} |
I want this list backwards: {l} | I want the list in reverse order: {l} | I want the list in the opposite order: {l} |
I need these in reverse order: {l} | I need the list the other way round: {l} | Here is a list. Reverse it: {l} |
Here is a list. Turn it around: {l} | {l}\nReverse this list. | {l}\nReverse the order. | {l}\nBackwards, please. |
{l}\nNow backwards. | {l}\nSay that backwards. | {l}\nTurn the list around. | {l}\nIn reverse order, please.""")
PICK = phrases("""What is the {o} item of {l}? | {o} item: {l} | Give me the {o} item of the list {l} |
Which is the {o} word? {l} | Take the {o} of these: {l} | Name the {o} one: {l} | The {o} item in {l}? |
From {l} pick the {o}. |
What is the {o} one? {l} | The {o} of these, please: {l} | {o} of {l}? | Choose the {o} item: {l} |
Tell me the {o} item of {l} | In {l}, which is the {o}? | Item number: {o}. List: {l} | Say the {o} word of {l} |
Which item is {o}? {l} | I want the {o} one of {l} | Get the {o} item from {l} |
the {o} item of {l} | {o} item of the list {l} | {o} one, please: {l} | {o} in the list: {l} | {o} word of these: {l} |
What is the {o} item? {l} | What is the {o} item in this list? {l} | What is the {o} word in this list? {l} |
What is the {o} entry? {l} | What is the {o} entry of {l}? | What is the {o} thing in the list {l}? |
What is in {o} place? {l} | What comes {o}? {l} | What comes {o} in this list? {l} | What stands in {o} place? {l} |
Which is the {o} item? {l} | Which is the {o} of these? {l} | Which is the {o} entry in {l}? | Which one is {o}? {l} |
Which one is the {o}? {l} | Which one is the {o} item? {l} | Which one comes {o}? {l} | Which one do I name {o}? {l} |
Which one stands in {o} place? {l} | Which item is in {o} place? {l} | Which item comes {o}? {l} |
Which item is the {o}? {l} | Which entry is the {o} one? {l} | Which entry comes {o} in {l}? |
Which of these is the {o}? {l} | Which of these comes {o}? {l} | Which thing comes {o}? {l} |
Give me the {o} one: {l} | Give me the {o} word: {l} | Give me the {o} of these: {l} |
Give me the {o} entry of this list: {l} | Give the {o} item of {l} | Tell me the {o} one: {l} |
Tell me the {o} word: {l} | Tell me the {o} entry: {l} | Tell me which one is {o}: {l} |
Tell me which item comes {o}: {l} | Name the {o} item: {l} | Name the {o} item of this list: {l} |
Name the {o} of these: {l} | Say the {o} item: {l} | Say the {o} one: {l} | Say only the {o} item: {l} |
Say which one comes {o}: {l} | Take the {o} item: {l} | Take the {o} one of {l} | Take the {o} item from the list {l} |
Pick the {o} item: {l} | Pick the {o} one: {l} | Pick the {o} of these: {l} | Pick the {o} word from {l} |
Choose the {o} one: {l} | Choose the {o} from this list: {l} | Find the {o} item: {l} |
Find the {o} item in the list {l} | Find the {o} entry: {l} | Get the {o} one: {l} | Get the {o} entry of {l} |
Return the {o} item: {l} | Return only the {o} item of {l} | Print the {o} item: {l} | Write only the {o} word: {l} |
Write the {o} item of this list: {l} | Show me the {o} item: {l} | Show the {o} entry: {l} |
Read me the {o} item: {l} | From this list I want the {o} item: {l} | From this list take the {o} one: {l} |
From the list {l} give me the {o} item. | From {l} take the {o} one. | From {l} choose the {o} item. |
Of {l}, which is the {o}? | Of {l}, name the {o}. | Of these, which one is {o}? {l} | Of these, the {o}, please: {l} |
In {l}, which item comes {o}? | In {l}, what is the {o} item? | In this list, what comes {o}? {l} |
In this list, which is the {o}? {l} | In the list {l}, name the {o} item. | I want the {o} item: {l} |
I want only the {o} item of {l} | I need the {o} one: {l} | I need the {o} item of this list: {l} |
I would like the {o} of these: {l} | I have a list: {l}. What is the {o} item? |
I have a list: {l}. Which one is the {o}? | Here is a list: {l}. Give me the {o} item. |
Here is a list: {l}. Which item is {o}? | Can you tell me the {o} item? {l} | Could you say which one is {o}? {l} |
List: {l}. Item: {o} | List: {l}\nGive me the {o} item. | List: {l}\nWhich is the {o}? | {l}: which is the {o}? |
{l}: the {o} one? | {l}: the {o} item, please. | {l}\nWhich one is {o}? | {l}\nWhat is the {o} item? |
{l}\nGive me the {o} one. | {l}\nName the {o} item.""")
COUNT = phrases("""How many items are in this list? {l} | Count the items: {l} | How long is the list {l}? |
Number of items: {l} | Count: {l} | How many words are these? {l} | How many things? {l} |
Tell me how many items: {l} |
How many are there? {l} | How many entries are here? {l} | What is the number of items? {l} |
Length of the list: {l} | How many do you see? {l} | Count these: {l} | How many items are there in {l}? |
Size of this list: {l} | Say how many: {l} | List length? {l} |
how many items {l} | how many are these {l} | How many items do you see? {l} | How many items do you count? {l} |
How many items does this list have? {l} | How many items has the list {l}? | How many items are listed? {l} |
How many items are listed here? {l} | How many items are on my list? {l} | How many items did I name? {l} |
How many items did I list? {l} | How many items can you count? {l} | How many entries? {l} |
How many entries are in this list? {l} | How many entries does the list have? {l} |
How many entries do you count? {l} | How many entries has {l}? | How many things are in this list? {l} |
How many things are listed here? {l} | How many things do you see? {l} | How many things did I name? {l} |
How many things are these? {l} | How many did I name? {l} | How many did I list? {l} | How many are listed? {l} |
How many are in the list? {l} | How many do you count? {l} | How many can you count? {l} |
How many have I listed? {l} | How many have I named here? {l} | How long is this list? {l} | How long is my list? {l} |
How big is this list? {l} | How big is the list {l}? | What is the length of this list? {l} |
What is the length of the list {l}? | What is the size of this list? {l} | What is the size of the list {l}? |
What is the number of entries? {l} | What is the number of things here? {l} | What is the count of items? {l} |
What is the count? {l} | What do you count? {l} | The number of items: {l} |
The number of items in this list, please: {l} | The number of entries: {l} | The number of things: {l} |
The length of this list: {l} | The length of the list {l}? | The size of the list {l}? | The count, please: {l} |
The count of these items: {l} | Number of entries: {l} | Number of things in the list: {l} | Number of items in {l}? |
Item count: {l} | List size? {l} | Size: {l} | Length: {l} | Count this list: {l} | Count the list: {l} |
Count the entries: {l} | Count the things: {l} | Count these items: {l} | Count the entries of this list: {l} |
Count the items in the list {l} | Count the items for me: {l} | Count how many there are: {l} |
Count how many items I name: {l} | Count them: {l} | Tell me how many there are: {l} |
Tell me how many things these are: {l} | Tell me how long this list is: {l} | Tell me the number of items: {l} |
Tell me the length of the list: {l} | Say how many items these are: {l} | Say how many entries you see: {l} |
Say how long the list is: {l} | Give me the number of items: {l} | Give me the number of entries in {l} |
Give me the length of this list: {l} | Give me the count: {l} | Give the size of this list: {l} |
Could you count the things in this list? {l} | Could you tell me how long the list is? {l} |
Do you know how many items these are? {l} | I want to know how many there are: {l} |
I want to know how long this list is: {l} | I need the number of items: {l} |
I need to know how many entries there are: {l} | Here is my list. How long is it? {l} |
Here is a list. Count the items: {l} | Here is a list. How many entries has it? {l} | {l}: how many? |
{l}: how many items? | {l}: how many are there? | {l}\nHow many are these? | {l}\nHow many items did I list? |
{l}\nHow many entries? | {l}\nCount the items. | {l}\nCount them. | {l}\nHow long is this list?""")
CONTINUE = phrases("""Continue: {l} | What comes next? {l} | Next number: {l} | Go on: {l} |
Continue the series {l} | Which number follows? {l} | Complete: {l} | What is the next number? {l} |
Add the next number: {l} | And then? {l} | Next: {l} | Which one is next? {l} | What follows? {l} | Go on with {l} |
Extend the series: {l} | {l}, and then? | {l}, ... | The series goes {l}. What is next? | Find the next number: {l} |
Continue this series: {l} | Continue with the next number: {l} | Continue with one number: {l} |
Continue the sequence: {l} | Continue this sequence: {l} | Continue these numbers: {l} | Continue with {l} |
Continue counting: {l} | Go on counting: {l} | Go on with the series: {l} | Go on with the next number: {l} |
Go on from here: {l} | Keep counting: {l} | Keep going: {l} | Keep the series going: {l} | Next one: {l} |
Next in the series: {l} | Next in the sequence: {l} | The next number: {l} | The next one: {l} |
The next one in the series: {l} | The next in this sequence: {l} | What comes now? {l} | What comes after this? {l} |
What comes after {l}? | What comes next in this series? {l} | What comes next in the sequence {l}? |
What comes next after {l}? | What is next? {l} | What is next after {l}? | What is next in the series {l}? |
What is the next number after {l}? | What is the next number in this sequence? {l} | What is the next one? {l} |
What number comes next? {l} | What number comes after {l}? | What number comes now? {l} | What number follows? {l} |
What number is next? {l} | What number continues the series {l}? | What follows in this series? {l} |
What follows next? {l} | What would come next? {l} | What would be the next number? {l} |
Which number comes next? {l} | Which number comes after {l}? | Which number comes now? {l} |
Which number is next? {l} | Which number follows in this series? {l} | Which number continues this sequence? {l} |
Which number would be next? {l} | Which one comes next? {l} | Which one follows? {l} | Which is the next number? {l} |
How does it go on? {l} | How does this series go on? {l} | How does the sequence continue? {l} |
How does this continue? {l} | How do these numbers go on? {l} | Complete the series: {l} |
Complete this sequence: {l} | Complete with the next number: {l} | Extend: {l} | Extend this sequence: {l} |
Extend by one number: {l} | Add one more number: {l} | Add one more: {l} | Add the next one to the series: {l} |
One more number: {l} | One more, please: {l} | Find the next one: {l} | Find the next number in the series {l} |
Find out what comes next: {l} | Find out which number follows: {l} | Give me the next number: {l} |
Give me the next one: {l} | Give me the next number in this series: {l} | Give me one more number: {l} |
Tell me the next number: {l} | Tell me what comes next: {l} | Tell me which number follows: {l} |
Tell me how this goes on: {l} | Say the next number: {l} | Say what comes next: {l} |
Say the number that follows: {l} | Name the next number: {l} | Name the number that comes next: {l} |
Write the next number: {l} | Guess the next number: {l} | Guess what comes next: {l} | Can you continue this? {l} |
Do you know the next number? {l} | Do you know what comes next? {l} | I count {l}. What comes next? |
I count {l}. Go on. | I count {l}. Which number follows? | I count like this: {l}. And then? |
We count {l}. What is next? | We have {l}. What number comes next? | I need the next number: {l} |
I want to know what follows: {l} | I wrote {l}. What is the next number? | Look at this series: {l}. What comes next? |
Look at these numbers: {l}. Which one is next? | Here is a series: {l}. Continue it. |
Here is a sequence: {l}. What is next? | The numbers are {l}. Which is the next one? |
The numbers go {l}. What follows? | The sequence is {l}. What comes next? | Series: {l}. Next? |
Sequence: {l}. Next number? | After {l} comes what? | After {l} comes which number? | After {l}, what is next? |
{l}: what is next? | {l}: next number? | {l}: go on. | {l}, what comes next? | {l}, which number is next? |
{l} and next? | {l} ... what follows? | {l} ... and so on. What is next? | {l}\nContinue. |
{l}\nThe next number, please.""")


NAME_SOME = phrases("""List {n} {k}. | Name {n} {k}. | Give me {n} {k}. | Tell me {n} {k}. | {n} {k}, please. |
Write a list of {n} {k}. | Can you name {n} {k}? | I need {n} {k}. |
Which {n} {k} do you know? | Say {n} {k}. | Write {n} {k}. | Do you know {n} {k}? | Show me {n} {k}. | Any {n} {k}? |
Please list {n} {k}. | Think of {n} {k}. | Pick {n} {k}. |
Name any {n} {k}. | Name {n} {k} you know. | Name me {n} {k}. | Name just {n} {k}. | List any {n} {k}. |
List {n} {k} that you know. | Give {n} {k}. | Give me any {n} {k}. | Give me a list of {n} {k}. |
Give me {n} {k} that you know. | Give me the names of {n} {k}. | Give examples: {n} {k} | Tell me any {n} {k}. |
Tell me {n} {k} you know. | Tell me the names of {n} {k}. | Say any {n} {k}. | Say {n} {k} you know. |
Write down {n} {k}. | Write down any {n} {k}. | Write the names of {n} {k}. | Write a short list of {n} {k}. |
Make a list of {n} {k}. | Make me a list with {n} {k}. | Make a short list: {n} {k} | Show {n} {k}. |
Show me a list of {n} {k}. | Show me any {n} {k}. | Think of any {n} {k} and list them. |
Think of {n} {k} and name them. | Choose {n} {k}. | Choose any {n} {k}. | Pick any {n} {k}. | Find {n} {k}. |
Find me {n} {k}. | Which {n} {k} can you name? | Which {n} {k} come to mind? | Which {n} {k} can you list? |
What are {n} {k} you know? | What {n} {k} can you name? | What {n} {k} do you know? | What {n} {k} can you think of? |
What {n} {k} come to mind? | Do you know any {n} {k}? | Do you know the names of {n} {k}? | I want {n} {k}. |
I want a list of {n} {k}. | I would like {n} {k}. | I would like a list of {n} {k}. | I am looking for {n} {k}. |
I need any {n} {k}. | I need a list of {n} {k}. | I need the names of {n} {k}. | I need examples: {n} {k} |
A list of {n} {k}, please. | A list with {n} {k}. | A short list of {n} {k}, please. | Any {n} {k} you know? |
The names of {n} {k}, please. | Help me find {n} {k}. | For a game I need {n} {k}. | We play a game. Name {n} {k}. |
Give me an example list of {n} {k}.""")
KINDS = (
    ("colours", words.COLOURS),
    ("animals", words.ANIMALS),
    ("foods", words.FOODS),
    ("cities", words.CITIES),
    ("jobs", words.JOBS),
    ("names", words.NAMES),
    ("days", words.WEEKDAYS),
    ("months", words.MONTHS),
)
NUMBERS = ("two", "three", "four", "five")


def _name_some(source: Source) -> tuple[str, str]:
    """The first few of a kind, always the same ones."""
    kind, items = source.any(KINDS)
    count = source.integer(2, 5)
    number = str(count) if source.chance(0.3) else NUMBERS[count - 2]
    return worded(source, NAME_SOME, n=number, k=kind), ", ".join(items[:count])


def _round(source: Source) -> tuple[str, str]:
    if source.chance(0.12):
        return _name_some(source)
    pool = source.any((words.ANIMALS, words.FOODS, words.COLOURS, words.OBJECTS, words.NAMES, words.CITIES))
    items = source.some(pool, source.integer(2, 6))
    if source.chance(words.MADE_UP_PART):
        items[source.integer(0, len(items) - 1)] = words.made_up(source)
    text = ", ".join(items)
    kind = source.integer(0, 5)
    if kind == 0:
        return worded(source, REPEAT, l=text), text
    if kind <= 2:
        return worded(source, REVERSE, l=text), ", ".join(reversed(items))
    if kind == 3:
        index = source.integer(0, min(len(items), len(ORDINALS)) - 1)
        ordinal, item = (ORDINALS[index], items[index]) if source.chance(0.7) else ("last", items[-1])
        return worded(source, PICK, o=ordinal, l=text), item
    if kind == 4:
        return worded(source, COUNT, l=text), str(len(items))
    start, step = source.integer(0, 50), source.any((1, 1, 2, 2, 5, 10))
    series = [start + step * position for position in range(5)]
    return worded(source, CONTINUE, l=", ".join(map(str, series[:4]))), str(series[4])


def make_lists(source: Source) -> Sample:
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 6)):
        question, answer = _round(source)
        turns += [user(question), assistant(answer)]
    return Sample("lists", tuple(turns), Check("exact", answer))
