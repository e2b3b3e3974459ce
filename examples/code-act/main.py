"""A code-act agent: instead of calling tools, the model writes Python, which runs here, and reads what came out.

Three walls stand behind each other: a grammar lets it write nothing but arithmetic, the evaluator knows nothing else,
and the process it all runs in is kept from files and network.

    pie run examples/code-act -- --question "Multiply 717 by 923."
"""

import ast
import json
from collections.abc import Callable
from typing import Any

from inferlet import Context, Ebnf, Model, Sampler, runtime, session

EXPRESSION = r"""
start: term ((" + " | " - ") term)*
term: factor ((" * " | " // ") factor)*
factor: NUMBER | "(" start ")"
NUMBER: /[0-9]{1,9}/
"""
PYTHON = {
    "type": "function",
    "function": {
        "name": "python",
        "description": "Evaluate an expression.",
        "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
    },
}
OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.FloorDiv: int.__floordiv__,
}


async def main(input: dict[str, Any]) -> str:
    model, question = Model.load(runtime.models()[0]), input["question"]
    code = await write(model, question, input["max_tokens"])
    result = run(code)
    session.send(f">>> {code}\n{result}\n")
    with Context(model) as context:
        context.equip_tools([PYTHON]).user(question)
        context.assistant("", calls=[("python", json.dumps({"code": code}))]).answer_tool("python", {"result": result})
        return await context.generate(Sampler.argmax(), max_tokens=48).collect_text()


async def write(model: Model, question: str, max_tokens: int) -> str:
    """Python, because the grammar allows nothing else."""
    with Context(model) as context:
        generator = context.user(question).generate(Sampler.argmax(), max_tokens=max_tokens)
        return await generator.constrain(Ebnf(EXPRESSION)).collect_text()


def run(code: str) -> int | str:
    """The value of an expression, or what is wrong with it: the model can read both."""
    try:
        return value(ast.parse(code, mode="eval").body)
    except (SyntaxError, ArithmeticError) as error:
        return f"{type(error).__name__}: {error}"


def value(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](value(left), value(right))
        case _:
            raise SyntaxError(f"no arithmetic: {ast.unparse(node)}")
