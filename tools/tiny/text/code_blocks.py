"""Tools called in a block of Python code, whose output the user's turn brings back."""

import json
import keyword
from typing import Any

from tools.tiny.text.sample import Check, Message, Sample, assistant, system, user
from tools.tiny.text.source import Source, phrases
from tools.tiny.text.tool_use import Offer, Request, distinct_offers, outcome, request, unserved

INTROS = phrases("""Write Python code in a block to use these functions: |
You can call these Python functions: | Call the functions in a code block: |
Solve tasks with Python code. You have these functions: | You write code. These functions exist: |
Use a code block to call: | You act by code. Functions: | These Python functions are there: |
Answer with code that calls one of these functions: | Write a code block with a call. The functions: |
Your functions, to be called in Python: | You are a coding agent. Functions: | Python functions for you: |
Use Python. You may call: | You can use these Python functions: | You can call these functions in Python code: |
You can write Python code that calls: | You may call these functions in a code block: |
You may use these Python functions: | You have these Python functions: |
You have these functions. Call them in a code block: | You are a coding agent. Call these functions: |
You are a coding agent with these Python functions: | You are an agent that writes Python code. Functions: |
You are an assistant that answers with code. You may call: |
You solve tasks by writing Python code. The functions: | You solve tasks with code blocks. Functions: |
You help with Python code. Your functions: | You act by writing code blocks. These functions exist: |
Write code that calls these functions: | Write Python code that calls one of these: |
Write a block of Python code. You have: | Write a Python code block to help the user. Functions: |
Write your action as Python code. You can call: | Answer with a code block. You can call: |
Answer with Python code. These functions exist: | Answer in a Python block with calls of these functions: |
Act by code blocks. You may call: | Call these Python functions in a block: |
Call one of these functions in Python code: | Call functions by writing Python. There are: |
Use these functions in a Python block: | Use Python code to call these functions: |
Use a Python code block. The functions are: | Use code to solve the task. Functions: |
Solve the task in Python. You can call: | Solve each task with a code block. You have: |
Help the user by code. Python functions: | These functions can be called in Python code: |
These are your Python functions: | Here are your functions. Write Python code: |
Here are Python functions. Call them in a code block: | The following Python functions exist: |
The following functions can be used in code: | Functions you can call in a Python block: |
Python functions you may use: | For each task write Python code. The functions:""")
TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list"}
OUTPUTS = ("Output:\n", "Output: ", "Result: ")


def literal(value: Any) -> str:
    """A JSON value as Python writes it, strings in double quotes."""
    return str(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def block(*wishes: Request) -> str:
    """The code that calls and prints."""
    calls = [
        f"print({wish.offer.name}({', '.join(f'{key}={literal(value)}' for key, value in wish.arguments.items())}))"
        for wish in wishes
    ]
    return "\n".join(["```python", *calls, "```"])


def _python_offers(source: Source, count: int) -> list[Offer]:
    """Tools whose names and parameters (`from`) no Python keyword stands in the way of."""
    offers = distinct_offers(source, count)
    while any(keyword.iskeyword(word) for offer in offers for word in (offer.name, *offer.keys)):
        offers = distinct_offers(source, count)
    return offers


def _signature(source: Source, offer: Offer, described: bool) -> str:
    parameters = ", ".join(
        f"{key}: {TYPES[field.type]}" for key, field in zip(offer.keys, offer.concept.fields, strict=True)
    )
    about = f"  # {source.one(offer.concept.descriptions)}" if described or offer.described else ""
    return f"def {offer.name}({parameters}){about}"


def _printed(*values: Any) -> str:
    return "\n".join(value if isinstance(value, str) else literal(value) for value in values)


def _exchange(source: Source, offers: list[Offer]) -> tuple[list[Message], list[str]]:
    """One wish, or two in one block, and what is printed and said."""
    wishes = [request(source, source.any(offers)) for _ in range(source.any((1, 1, 1, 2)))]
    outcomes = [outcome(source, wish) for wish in wishes]
    output = source.any(OUTPUTS) + _printed(*(value for value, _, _ in outcomes))
    turns = [user(" ".join(wish.text for wish in wishes)), assistant(block(*wishes))]
    turns += [user(output), assistant(" ".join(answer for _, answer, _ in outcomes))]
    return turns, [text for _, _, values in outcomes for text in values]


def make_code(source: Source) -> Sample:
    """One to three tasks; the last ends in its code or in the answer after the output."""
    offers = _python_offers(source, source.any((1, 1, 2, 2, 3, 4)))
    described = source.chance(0.7)
    signatures = "\n".join(_signature(source, offer, described) for offer in offers)
    turns: list[Message] = [system(f"{source.one(INTROS)}\n\n{signatures}")]
    values: list[str] = []
    for _ in range(source.any((1, 1, 2, 3))):
        if source.chance(0.15):
            asked, said = unserved(source, offers)
            turns += [user(asked), assistant(said)]
        done, values = _exchange(source, offers)
        turns += done
    if source.chance(0.6):
        return Sample("code block", tuple(turns[:-2]), Check("exact", turns[-3]["content"]))
    return Sample("code block", tuple(turns), Check("contains", values))
