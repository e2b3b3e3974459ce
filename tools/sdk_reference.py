"""What programs import, as pages: signatures as they are written, and their docstrings."""

import ast
import inspect
import textwrap
from collections.abc import Container, Iterable, Iterator
from types import ModuleType
from typing import Any, TypeGuard

import inferlet
from inferlet import sync
from pie_mlx import errors

_SKIPPED = {"errors"}
"""It has its own table in its docstring."""

_MADE_BY = {
    "Adapter": "`Adapter.create`, `Adapter.open` and `adapter.fork`",
    "Forward": "`context.forward`",
    "GenStep": "iterating a `Generator`",
    "Generator": "`context.generate`",
    "Grammar": "its `from_` methods and `Grammar.json`",
    "Model": "`Model.load`",
    "Output": "`execute` of a `Forward` or `GenStep`",
    "ProbeHandle": "`probe` of a `Forward` or `GenStep`",
    "RawContext": "`context.inner`",
    "SampleHandle": "`sample` of a `Forward`",
    "Tokenizer": "`model.tokenizer`",
    "mcp.McpSession": "`mcp.connect`",
    "messaging.Subscription": "`messaging.subscribe`",
    "runtime.Child": "`runtime.launch`",
    "EventStream": "`context.generate(..., decode=True)`",
    "TokenStream": "`context.generate`",
}
"""Classes whose objects programs get, with what returns them."""

_INTERNAL = {"Adapter.learn", "Matcher.adopt", "Matcher.advance"}
"""Methods that modules of the SDK call on each other's objects."""

_PROGRAM = """\
```python
from inferlet import Context, Model, Sampler, runtime


async def main(input):
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        context.user(input["prompt"])
        return await context.generate(Sampler.argmax(), max_tokens=64).collect_text()
```
"""

_BLOCKING_PROGRAM = """\
```python
from inferlet import Context, Model, Sampler, runtime


def main(input):
    model = Model.load(runtime.models()[0])
    with Context(model) as context:
        return context.user(input["prompt"]).generate_text(Sampler.greedy(), max_tokens=64)
```
"""

_TASKS = {
    "load a model": ("Model.load", "runtime.models", "Model.tokenizer"),
    "write turns": ("Context.system", "Context.user", "Context.assistant", "Context.append", "Context.cue"),
    "generate": ("Context.generate", "Sampler", "Generator.collect_text", "GenStep.execute"),
    "restrict the text": ("JsonSchema", "Regex", "Ebnf", "Constraint"),
    "compute without drawing": ("Context.flush", "Context.forward"),
    "read the model": (
        "Logits",
        "Distribution",
        "Logprob",
        "Entropy",
        "HiddenState",
        "AttentionScores",
        "Output",
        "Model.embed",
    ),
    "fork and take back": ("Context.fork", "Context.truncate", "Context.release"),
    "save and find again": ("Context.save", "Context.open", "Context.take"),
    "use tools": ("Context.equip_tools", "Context.answer_tool", "tools", "mcp"),
    "read thoughts and calls off the tokens": ("chat.Decoder", "reasoning.Decoder", "tools.Decoder"),
    "talk to the client and to other programs": ("session", "messaging", "runtime.launch"),
    "bid": ("Context.set_bid", "Context.idle", "Context.suspend", "scheduling"),
    "change the weights": ("Adapter", "zo"),
}
"""Where to look, by what a program wants to do; each name is one of `inferlet`."""


def sdk_lines() -> Iterator[str]:
    """The asynchronous API."""
    yield "`inferlet`, as a program with `async def main(input)` imports it. A plain `def main(input)` and a script"
    yield "without main get the [blocking API](blocking.md), where some things have other names. The package"
    yield "is typed, for editors, and installed with `pie`; it needs an engine to do anything (`pie run FILE.py`).\n"
    yield _PROGRAM
    yield "| to | |\n|---|---|"
    yield from (f"| {task} | {', '.join(map(_task_link, names))} |" for task, names in _TASKS.items())
    yield "\nA class before a method, as in `Model.load(...)`: call it on the class, not on an object."
    yield from _members({name: getattr(inferlet, name) for name in inferlet.__all__})
    yield f"\n## inferlet.errors\n\n```\n{_text(errors)}\n```"


def blocking_lines() -> Iterator[str]:
    """What the blocking API has of its own, and the names of what it shares with the asynchronous one, or lacks."""
    found = {name: getattr(sync, name) for name in sync.__all__}
    own = {name: value for name, value in found.items() if getattr(inferlet, name, None) is not value}
    yield "`inferlet`, as a plain `def main(input)` and a script without main import it: nothing is awaited. With"
    yield "`async def main(input)` a program gets the [asynchronous API](sdk.md). `from inferlet.sync import ...`"
    yield "is the same program, and tells editors and type checkers which of the two it uses.\n"
    yield f"The same in both, and described there: {_listed(name for name in found if name not in own)}.\n"
    yield f"Names only the asynchronous API has: {_listed(name for name in inferlet.__all__ if name not in found)}."
    yield f"\n{_BLOCKING_PROGRAM}"
    yield "The samplers have other keywords and defaults here:\n"
    yield "| asynchronous | blocking |\n|---|---|"
    yield from _draws()
    events = {f"Event.{name}": kind for name, kind in vars(sync.Event).items() if inspect.isclass(kind)}
    yield from _members(dict(sorted((own | events).items())))


def _task_link(name: str) -> str:
    """A name with a link to the heading that describes it. Raises AttributeError if `inferlet` has no such name."""
    first, _, rest = name.partition(".")
    owner = getattr(inferlet, first)
    if rest:
        getattr(owner, rest)
    heading = first if inspect.isclass(owner) else name if rest else f"inferlet.{name}"
    return f"[`{name}`](#{heading.lower().replace('.', '')})"


def _draws() -> Iterator[str]:
    """Each way to draw a token, as the asynchronous and as the blocking API have it."""
    for name in ("greedy", "multinomial", "top_k", "top_p", "min_p", "top_k_top_p"):
        known_as = "argmax" if name == "greedy" else name
        both = (getattr(inferlet.Sampler, known_as), getattr(sync.Sampler, name))
        yield "| " + " | ".join(f"`{_call(function)}`" for function in both) + " |"


def _call(function: Any) -> str:
    """A function with its parameters and their defaults, without types."""
    parameters = [
        part.name if part.default is part.empty else f"{part.name}={part.default!r}"
        for part in inspect.signature(function).parameters.values()
    ]
    return f"{function.__name__}({', '.join(parameters)})"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _members(found: dict[str, Any]) -> Iterator[str]:
    """Classes and functions, then modules."""
    modules = {name: value for name, value in found.items() if isinstance(value, ModuleType)}
    for name, value in found.items():
        if name not in modules:
            yield from _object(name, value, "##")
    for name, module in modules.items():
        if name in _SKIPPED:
            continue
        yield f"\n## inferlet.{name}\n\n{_text(module)}"
        for inner in _names(module):
            yield from _object(f"{name}.{inner}", getattr(module, inner), "###")


def _names(module: ModuleType) -> list[str]:
    listed: list[str] | None = getattr(module, "__all__", None)
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    return sorted(listed or own)


def _object(name: str, value: Any, heading: str) -> Iterator[str]:
    if inspect.isclass(value):
        shown = [part for part in vars(value) if f"{name}.{part}" not in _INTERNAL]
        yield from class_lines(name, value, heading, shown, made_by=_MADE_BY.get(name, ""))
    elif inspect.isfunction(value):
        yield from function_lines(name, value, heading)


def function_lines(name: str, function: Any, heading: str) -> Iterator[str]:
    """A function under a heading: how it is written, and its docstring."""
    yield f"\n{heading} {name}\n\n```\n{_signature(_tree(function))}\n```\n\n{_text(function)}"


def class_lines(name: str, kind: type, heading: str, shown: Container[str], *, made_by: str = "") -> Iterator[str]:
    """A class under a heading: its docstring, its fields, what makes its objects, and the `shown` methods."""
    tree = _tree(kind)
    yield f"\n{heading} {name}\n\n{_own_text(kind)}"
    functions = [part for part in tree.body if _is_function(part)]
    fields = [ast.unparse(part) for part in tree.body if _is_field(part)]
    if made_by:
        yield f"\nFrom {made_by}."
    else:
        fields += [_signature(part) for part in functions if part.name == "__init__"]
    if fields:
        yield "\n```"
        yield from fields
        yield "```"
    for part in functions:
        if not part.name.startswith("_") and part.name in shown:
            text = ast.get_docstring(part)
            yield f"\n- `{_signature(part, name)}`" + (f"\n\n{textwrap.indent(text, '  ')}" if text else "")


def _is_function(part: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Of several signatures of one function the last stands for all."""
    if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return "overload" not in map(ast.unparse, part.decorator_list)


def _is_field(part: ast.stmt) -> bool:
    return isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and not part.target.id.startswith("_")


def _signature(function: Any, owner: str = "") -> str:
    """As written, in one line; a property without its `def`, what is called on the class `owner` with it."""
    decorators = [ast.unparse(decorator) for decorator in function.decorator_list]
    on_class = f"{owner.rpartition('.')[2]}." if {"classmethod", "staticmethod"} & {*decorators} else ""
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    if "property" in decorators:
        return f"{function.name}{returns}"
    awaited = "async " if isinstance(function, ast.AsyncFunctionDef) else ""
    parameters = ast.unparse(function.args).removeprefix("self, ").removeprefix("cls, ")
    parameters = "" if parameters in ("self", "cls") else parameters
    return f"{awaited}{on_class}{function.name}({parameters}){returns}"


def _tree(value: Any) -> Any:
    return ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]


def _text(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "")


def _own_text(kind: type) -> str:
    """Its own docstring; one of another class says nothing about it."""
    return inspect.cleandoc(kind.__dict__.get("__doc__") or "")
