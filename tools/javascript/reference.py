"""What programs in JavaScript and TypeScript import, as a page: read from the declarations that tsc makes of JSDoc."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.javascript.declarations import TYPES

_TYPES = {"Constraint": "constraint", "Schema": "constraint", "Speculator": "_generation/drafting"}
_TYPES |= {"GenerateOptions": "_generation/options", "FinishReason": "_generation/options"}
"""Types that programs name, and the modules that declare them."""

_PROGRAM = """\
```typescript
import { Context, Model, runtime, Sampler } from 'inferlet';

export async function main(input: { prompt: string }): Promise<string> {
  using context = new Context(Model.load(runtime.models()[0]));
  return await context.user(input.prompt).generate(Sampler.argmax(), { maxTokens: 64 }).collectText();
}
```
"""


@dataclass(frozen=True, slots=True)
class Declared:
    """One declaration: its kind, its text after that word, and its comment."""

    kind: str
    text: str
    doc: str

    @property
    def name(self) -> str:
        found = re.match(r"\w+", self.text)
        return found[0] if found else ""


def javascript_lines() -> Iterator[str]:
    """The page."""
    yield "`inferlet`, as a program with `export async function main(input)` imports it."
    yield "[The guide](../guide/typescript.md) says how to write one. Names and behaviour are those of"
    yield "[Python](sdk.md) in JavaScript's manner: options are the last argument, `using` releases, tokens come as"
    yield "`Uint32Array`, and any iterable of numbers goes in.\n"
    yield _PROGRAM
    names, modules = _exports()
    for name, module in sorted(names.items()):
        yield from _section(name, _declarations(module)[name])
    for name, module in _TYPES.items():
        yield from _type_section(name, _declarations(module)[name])
    for name in sorted(modules):
        yield from _module(name)
    yield "\n## errors\n"
    yield "The tree of [Python](sdk.md#inferleterrors), with details in JavaScript's spelling: `error.rpcCode`."


def _exports() -> tuple[dict[str, str], list[str]]:
    """Names and the modules that declare them, and the modules exported whole."""
    text = (TYPES / "index.d.mts").read_text(encoding="utf-8")
    return _exported_from(text), [name for name in re.findall(r"export \* as (\w+)", text) if name != "errors"]


def _exported_from(text: str) -> dict[str, str]:
    """Names that declarations export from other modules, and these."""
    return {
        name.strip(): module
        for listed, module in re.findall(r"export \{([^}]*)\} from ['\"]\./([\w/]+)\.mjs['\"]", text)
        for name in listed.split(",")
    }


def _declarations(module: str) -> dict[str, Declared]:
    text = Path(TYPES, f"{module}.d.mts").read_text(encoding="utf-8")
    found = [
        Declared(*one.removeprefix("export ").split(" ", 1), doc) for one, doc in _split(text.splitlines(), "export ")
    ]
    return {one.name: one for one in found}


def _split(lines: list[str], start: str) -> Iterator[tuple[str, str]]:
    """The declarations that begin with `start`, whole, and the comments before them."""
    doc: list[str] = []
    rest = iter(lines)
    for line in rest:
        if line.lstrip().startswith("/**"):
            doc = [line]
            while "*/" not in doc[-1]:
                doc.append(next(rest))
        elif line.startswith(start) and line[len(start) :].strip()[:1] not in ("", "}"):
            whole = [line]
            while _depth(whole) > 0:
                whole.append(next(rest))
            yield "\n".join(whole), _prose("\n".join(doc).strip().removeprefix("/**").removesuffix("*/"))
            doc = []


def _depth(lines: list[str]) -> int:
    text = re.sub(r"/\*.*?\*/", "", "\n".join(lines), flags=re.DOTALL)
    return sum(text.count(opening) - text.count(closing) for opening, closing in ("{}", "()", "[]"))


def _module(name: str) -> Iterator[str]:
    yield f"\n## {name}"
    text = (TYPES.parent / f"{name}.mjs").read_text(encoding="utf-8")
    yield f"\n{_prose(text.partition('/**')[2].partition('*/')[0])}\n"
    others = _exported_from((TYPES / f"{name}.d.mts").read_text(encoding="utf-8"))
    known = {**_declarations(name), **{one: _declarations(module)[one] for one, module in others.items()}}
    for declared in sorted(known.values(), key=lambda one: one.kind in ("class", "type")):
        if declared.kind == "class":
            yield from _section(f"{name}.{declared.name}", declared)
        elif declared.kind == "type" and declared.name == "Event":
            yield from _type_section(f"{name}.Event", declared)
        elif declared.kind != "type":
            yield f"\n- `{_short(declared.text)}`\n\n{_indented(declared.doc)}"


def _section(name: str, declared: Declared) -> Iterator[str]:
    yield f"\n## {name}\n"
    if declared.kind != "class":
        yield f"{declared.doc}\n\n```\n{_short(declared.text)}\n```"
        return
    base = re.match(r"\w+ extends QueueDecoder", declared.text)
    yield declared.doc
    inherited = _members(_declarations("_decoding/decoder")["QueueDecoder"].text) if base else ()
    members = [*_members(declared.text), *inherited]
    for text, doc in members:
        yield f"\n- `{text}`" + (f"\n\n{_indented(doc)}" if doc else "")


def _type_section(name: str, declared: Declared) -> Iterator[str]:
    yield f"\n## {name}\n\n{declared.doc}\n\n```\n{_body(declared.text)}\n```"


def _members(text: str) -> Iterator[tuple[str, str]]:
    for member, doc in _split(text.splitlines()[1:], "    "):
        short = _short(member)
        if not short.startswith(("#", "private", "protected", "[Symbol.asyncIterator]")):
            yield short.replace("constructor(", "new ("), doc


def _short(text: str) -> str:
    """A declaration on one line, without what is the same everywhere."""
    text = re.sub(r"\s+", " ", text).strip().removesuffix(";")
    text = re.sub(r"Uint(8|32)Array<ArrayBuffer(?:Like)?>|Float32Array<ArrayBuffer(?:Like)?>", _bare, text)
    text = re.sub(r"import\(\"[^\"]*\"\)\.", "", text)
    text = re.sub(r"\{ ([\w, ]+) \}\?: (?=\{|\w)", "options?: ", text)
    return re.sub(r"; \}", " }", text)


def _bare(found: re.Match[str]) -> str:
    return found[0].partition("<")[0]


def _body(text: str) -> str:
    """The lines of a type without the comments inside."""
    text = re.sub(r"/\*\*.*?\*/\n?", "", text.partition(" = ")[2], flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()).removesuffix(";")


def _prose(doc: str) -> str:
    lines = [re.sub(r"^\s*\* ?", "", line).rstrip() for line in doc.strip().splitlines()]
    kept: list[str] = []
    for line in lines:
        plain = re.split(r"(?:^|\s)@\w+", line)[0].rstrip()
        if plain or not line:
            kept.append(plain)
        if line.startswith("@"):
            break
    return "\n".join(kept).strip()


def _indented(doc: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in doc.splitlines())
