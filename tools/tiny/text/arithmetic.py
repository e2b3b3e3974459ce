"""Sums, differences and comparisons of numbers up to 99, with and without a written thought."""

from tools.tiny.text.loosening import worded
from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases

SUMS = phrases("""What is {a} + {b}? | {a} + {b} | {a} + {b} = ? | Add {a} and {b}. | What is {a} plus {b}? |
Compute {a} + {b}. | How much is {a} + {b}? | {a} plus {b}? | Sum of {a} and {b}? |
What is the sum of {a} and {b}? | Calculate {a} plus {b}. | Please add {a} and {b}. |
How much is {a} plus {b}? | Can you add {a} and {b}? | I have {a} and get {b} more. How many do I have? |
Tell me {a} + {b}. | Work out {a} + {b}. | And {a} + {b}? |
{a} and {b} together? | What do {a} and {b} make? | {a} and {b} is how much? | Give me {a} + {b}. |
The sum of {a} and {b}, please. | Solve {a} + {b}. | What is {a} added to {b}? | First {a}, then {b} more. How many? |
{a}+{b} | {a}+{b}=""")
DIFFERENCES = phrases("""What is {a} - {b}? | {a} - {b} | {a} - {b} = ? | Subtract {b} from {a}. |
What is {a} minus {b}? | Compute {a} - {b}. | How much is {a} - {b}? | {a} minus {b}? |
Take {b} away from {a}. | What is the difference of {a} and {b}? | Calculate {a} minus {b}. |
I have {a} and lose {b}. How many are left? | How much is {a} minus {b}? | Tell me {a} - {b}. |
Work out {a} - {b}. | And {a} - {b}? |
{a} less {b}? | What is left of {a} without {b}? | Give me {a} - {b}. | {a} without {b}? |
The difference of {a} and {b}, please. | Solve {a} - {b}. | Minus: {a} and {b} |
I had {a} and gave away {b}. What is left? | {a}-{b} | {a}-{b}=""")
LARGER = phrases("""Which is larger, {a} or {b}? | Which number is bigger: {a} or {b}? |
What is more, {a} or {b}? | Is {a} or {b} larger? | Pick the larger number: {a}, {b}. |
Which is greater, {a} or {b}? | Larger: {a} or {b}? | Tell me which is bigger, {a} or {b}. |
Which one is larger, {a} or {b}? | What is the bigger number, {a} or {b}? | The larger of {a} and {b}? |
Is {a} bigger or {b}? | Find the larger one: {a}, {b}. | {a} or {b}: which is more? |
Give the greater number: {a} or {b}. | Of {a} and {b}, which is bigger? | The greater of {a} and {b}? |
Choose the bigger number: {a}, {b}. | What number is higher, {a} or {b}? | Maximum of {a} and {b}? |
Compare {a} and {b}: which is larger?""")
SMALLER = phrases("""Which is smaller, {a} or {b}? | Which number is smaller: {a} or {b}? |
What is less, {a} or {b}? | Is {a} or {b} smaller? | Pick the smaller number: {a}, {b}. |
Smaller: {a} or {b}? | Which is the lower number, {a} or {b}? | Tell me which is smaller, {a} or {b}. |
Which one is smaller, {a} or {b}? | What is the smaller number, {a} or {b}? | The smaller of {a} and {b}? |
Is {a} less or {b}? | Find the smaller one: {a}, {b}. | {a} or {b}: which is less? |
Give the lower number: {a} or {b}. | Of {a} and {b}, which is smaller? | The lesser of {a} and {b}? |
Choose the smaller number: {a}, {b}. | What number is lower, {a} or {b}? | Minimum of {a} and {b}? |
Compare {a} and {b}: which is smaller?""")
THINK = phrases("""Think before you answer. | Think step by step. | /think | Think first, then answer. |
Reason before answering. | You are a helpful assistant. Think before you answer. |
Always think step by step. | Use thinking. |
Please think first. | Think carefully before you answer. | You think before you answer. |
Write down your thoughts first. | First think, then answer. | Think about each question. |
Use a thought before each answer. | Show your thinking. | Take a moment to think. | Reason step by step.""")


SOFT_SWITCHES = (" /think", " Think first.", " Think step by step.")


def _sum_thought(a: int, b: int) -> str:
    low = a % 10 + b % 10
    carry = low // 10
    lines = [f"{a % 10} + {b % 10} = {low}"]
    high = a // 10 + b // 10
    lines.append(f"{a // 10} + {b // 10} = {high}" + (f", + 1 = {high + 1}" if carry else ""))
    return "\n".join([*lines, f"{a} + {b} = {a + b}"])


def _difference_thought(a: int, b: int) -> str:
    low, high = a % 10 - b % 10, a // 10 - b // 10
    if low < 0:
        lines = [f"1{a % 10} - {b % 10} = {low + 10}", f"{a // 10} - {b // 10} = {high}, - 1 = {high - 1}"]
    else:
        lines = [f"{a % 10} - {b % 10} = {low}", f"{a // 10} - {b // 10} = {high}"]
    return "\n".join([*lines, f"{a} - {b} = {a - b}"])


def _operands(source: Source, mark: str) -> tuple[int, int]:
    low, high = source.any(((0, 9), (0, 99), (10, 99), (10, 99), (10, 99)))

    def make() -> str:
        first, second = source.integer(low, high), source.integer(low, high)
        if mark == "-":
            first, second = max(first, second), min(first, second)
        return f"{first}{mark}{second}"

    first, second = source.fresh(make).split(mark)
    return int(first), int(second)


def sum_round(source: Source) -> tuple[str, str, str]:
    """A question, its thought and its answer."""
    if source.chance(0.5):
        a, b = _operands(source, "+")
        return worded(source, SUMS, a=a, b=b), _sum_thought(a, b), f"{a} + {b} = {a + b}"
    a, b = _operands(source, "-")
    return worded(source, DIFFERENCES, a=a, b=b), _difference_thought(a, b), f"{a} - {b} = {a - b}"


def make_sums(source: Source) -> Sample:
    """One to twelve sums; a thought is asked for by the system prompt, by the user or by nobody, or forbidden."""
    style = source.any(("plain", "plain", "plain", "forbidden", "system", "system", "user"))
    asked_by_system = style == "system" or (style == "forbidden" and source.chance(0.5))
    turns: list[Message] = [system(source.one(THINK))] if asked_by_system else []
    answer = ""
    for _ in range(source.integer(1, 5) if style in ("system", "user") else source.integer(2, 12)):
        question, thought, answer = sum_round(source)
        thinks = style == "system" or (style == "user" and source.chance(0.7))
        soft = source.any(SOFT_SWITCHES) if thinks and style == "user" else ""
        turns += [user(question + soft), assistant(answer, thought if thinks else None)]
    thinks = "reasoning_content" in turns[-1]
    task = "sums with thinking" if thinks else "sums"
    return Sample(task, tuple(turns), Check("exact", answer), thinking=False if style == "forbidden" else None)


def make_comparison(source: Source) -> Sample:
    turns: list[Message] = []
    answer = ""
    for _ in range(source.integer(1, 8)):
        a, b = source.random.sample(range(100), 2)
        larger = source.chance(0.5)
        answer = str(max(a, b) if larger else min(a, b))
        turns += [user(worded(source, LARGER if larger else SMALLER, a=a, b=b)), assistant(answer)]
    return Sample("comparisons", tuple(turns), Check("exact", answer))
