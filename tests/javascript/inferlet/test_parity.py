"""What programs in Python import is there in JavaScript, under the name that it has there."""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import inferlet
import pie_mlx.javascript

DECLARATIONS = Path(pie_mlx.javascript.__file__).parent / "inferlet" / "types"
MODULES = ("brle", "chat", "mcp", "messaging", "reasoning", "rules", "runtime", "scheduling", "session", "tools", "zo")
INDEX = (DECLARATIONS / "index.d.mts").read_text(encoding="utf-8")
ALL = "\n".join(file.read_text(encoding="utf-8") for file in DECLARATIONS.rglob("*.d.mts"))
LEFT_OUT = {
    "AnyJson": "anyJson()",
    "Ebnf": "ebnf(text)",
    "JsonSchema": "jsonSchema(schema)",
    "Regex": "regex(pattern)",
    "Arguments": "`input` has the types of the manifest",
    "parse_args": "as above",
    "get_return_value": "`return`",
    "set_return": "as above",
    "runtime.get_return_value": "as above",
    "runtime.set_return": "as above",
    "RawContext": "raw operations on pages are there in Python only",
    "Context.inner": "as above",
    "Embeddings": "the array of vectors",
    "Ranked": "an object of the array",
    "Ranking": "the array of ranked documents",
    "spec": "a speculator is any object with its methods",
    "brle.brle_and": "brle.and",
    "rules.RuleUse.graph": "of the engine",
    "rules.RuleUse.of": "of the engine",
    "Adapter.learn": "of the SDK itself",
    "Matcher.adopt": "of the SDK itself",
    "Matcher.advance": "of the SDK itself",
    "Logprob.token": "Pie's other name of token_id, which is a field here",
    "Logprobs.tokens": "as above",
    **{f"Sampler.{name}": "of the engine" for name in ("carries_states", "counts_tokens", "ends_text", "penalizes")},
    "Model.default_system_speculation": "Pie's default, which is False here",
}
"""What JavaScript does in another way."""


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def python_names() -> Iterator[str]:
    """What `inferlet` has, what its modules have, and what its classes have."""
    kinds = {name: value for name in inferlet.__all__ if inspect.isclass(value := getattr(inferlet, name))}
    yield from inferlet.__all__
    for module in MODULES:
        found = importlib.import_module(f"inferlet.{module}")
        for name in getattr(found, "__all__", vars(found)):
            value = getattr(found, name)
            if inspect.isfunction(value) and not name.startswith("_") and value.__module__ == found.__name__:
                yield f"{module}.{name}"
            elif inspect.isclass(value) and name in ("Child", "Decoder", "OtherRow", "Row", "RuleUse", "Subscription"):
                yield f"{module}.{name}"
                kinds[f"{module}.{name}"] = value
    for kind, value in kinds.items():
        if kind in LEFT_OUT or re.search(rf"^export type {kind}\b", INDEX, re.MULTILINE):
            continue
        yield from (f"{kind}.{name}" for name, member in vars(value).items() if name[0] != "_" and is_method(member))


def is_method(value: object) -> bool:
    return isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)


def declared(text: str, name: str) -> bool:
    """Whether a module declares a name, or gives that of another one away."""
    return re.search(rf"^export .*\b{name}\b|^export \{{[^}}]*\b{name}\b", text, re.MULTILINE) is not None


def member_of(kind: str, name: str) -> bool:
    """Whether a class of any module has a method, a property or a field."""
    bodies = re.findall(rf"^export class {kind}\b[^\n]*{{\n(.*?)^}}", ALL, re.MULTILINE | re.DOTALL)
    return any(re.search(rf"^    (?:static |get |readonly )*{name}\b[(:?<]", body, re.MULTILINE) for body in bodies)


def in_javascript(name: str) -> bool:
    parts = name.split(".")
    if parts[-1][0].isupper() or len(parts) == 1:
        text = INDEX if len(parts) == 1 else (DECLARATIONS / f"{parts[0]}.d.mts").read_text(encoding="utf-8")
        return declared(text, parts[-1])
    if parts[-2][0].isupper():
        return member_of(parts[-2], camel(parts[-1]))
    return declared((DECLARATIONS / f"{parts[0]}.d.mts").read_text(encoding="utf-8"), camel(parts[-1]))


def test_what_python_has_javascript_has_unless_it_is_listed() -> None:
    lacking = [name for name in python_names() if not in_javascript(name)]
    assert sorted(lacking) == sorted(LEFT_OUT)
