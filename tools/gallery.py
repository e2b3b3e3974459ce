"""The gallery of examples: `python -m tools.gallery`, or `python -m tools.gallery NAME...` for some of them.

What an example shows is said by its manifest, how it is run by the last paragraph of its docstring; what it prints is
what that command prints, run as it is written.
"""

import ast
import inspect
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pie_mlx.runtime.program.program import find_program

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "gallery.md"
LINES, COLUMNS = 3, 72
"""How much of what an example prints is shown."""

GROUPS = {
    "First steps": ("hello", "chat", "fork-and-tool"),
    "Thinking in several ways": (
        "best-of-n",
        "beam-search",
        "tree-of-thought",
        "graph-of-thought",
        "skeleton-of-thought",
        "recursion-of-thought",
        "monte-carlo-tree-search",
        "reflexion",
    ),
    "Agents and programs": (
        "react-agent",
        "code-act",
        "swarm",
        "fan-out",
        "file-memory",
        "background-worker",
        "openai-server",
        "model-router",
    ),
    "Finding texts": ("semantic-search",),
    "Pages that are used again": ("prefix-tree", "modular-cache", "snapshots"),
    "Attention": ("attention-sink", "heavy-pages", "windowed-attention", "hierarchical-attention"),
    "Answers of a given form": ("json-extraction", "grammars", "validate-and-retry"),
    "Choosing tokens yourself": (
        "raw-logits",
        "typical-sampling",
        "contrastive-decoding",
        "guidance",
        "watermark",
        "refusal-probe",
    ),
    "Guessing ahead": ("n-gram-speculator", "draft-tree", "jacobi-decoding"),
    "Adapters": ("lora-switching", "evolution-tuning"),
}
HEAD = ("| example | shows | run it | prints |", "|---|---|---|---|")
INTRODUCTION = """# Gallery

<!-- Written by `python -m tools.gallery`. Change the examples, then run it. -->

Programs to read, run and change, each of about a page. The commands are those of someone in the directory of the
repository; they run on pie-tiny, a model of 3.5 million parameters, whose answers are often wrong. `--model` names a
better one. What comes after `--` are the program's parameters, which its `Pie.toml` describes. *ts* is the same program
in [TypeScript](guide/typescript.md).
"""


@dataclass(frozen=True)
class Example:
    """A row of the gallery."""

    name: str
    shows: str
    command: str

    @classmethod
    def read(cls, name: str) -> "Example":
        program = find_program(ROOT / "examples" / name)
        docstring = ast.get_docstring(ast.parse(program.main_file.read_text(encoding="utf-8"))) or ""
        command = inspect.cleandoc(docstring.rpartition("\n\n")[2])
        return cls(name, program.manifest.description, command)


def page(printed: Mapping[str, list[str]]) -> str:
    """The whole page, with the first lines each example printed."""
    parts = [INTRODUCTION]
    for title, names in GROUPS.items():
        rows = [_row(Example.read(name), printed.get(name, [])) for name in names]
        parts.append("\n".join([f"## {title}\n", *HEAD, *rows, ""]))
    return "\n".join(parts)


def _row(example: Example, printed: list[str]) -> str:
    link = f"[{example.name}](../examples/{example.name}/main.py)"
    if (ROOT / "examples" / example.name / "main.ts").exists():
        link += f" ([ts](../examples/{example.name}/main.ts))"
    command = _cell(map(_escaped, example.command.splitlines()))
    return f"| {link} | {example.shows} | {command} | {_cell(printed)} |"


def _cell(lines: Iterable[str]) -> str:
    return "<br>".join(f"`{line}`" for line in lines)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def recorded(text: str) -> dict[str, list[str]]:
    """What the examples printed, read back from a page."""
    rows = re.findall(r"^\| \[([\w-]+)\].* \| (.*) \|$", text, re.MULTILINE)
    return {name: cell.strip("`").split("`<br>`") if cell else [] for name, cell in rows}


def first_lines(text: str) -> list[str]:
    """Of what a program printed, as they fit a table."""
    lines = [line.rstrip() for line in text.replace("`", "'").splitlines() if line.strip()]
    return [_escaped(line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…") for line in lines[:LINES]]


def played(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Run the commands of these examples; raises CalledProcessError for one that fails."""
    for name in names:
        command = Example.read(name).command
        print(command, flush=True)
        yield name, first_lines(output(command))


def output(command: str) -> str:
    """What the lines of a command print, with a home of their own. One that ends with & runs until the others have."""
    with tempfile.TemporaryDirectory() as home, ExitStack() as servers:
        environment = {**os.environ, "PIE_HOME": home, "PIE_SERVER__PORT": "0"}
        return "".join(_run(line, environment, servers) for line in command.splitlines())


def _run(line: str, environment: dict[str, str], servers: ExitStack) -> str:
    words = shlex.split(line.removesuffix("&"))
    settings = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
    program, *arguments = words[len(settings) :]
    command = [sys.executable, *(["-m", "pie_mlx"] if program == "pie" else []), *arguments]
    options = {"cwd": ROOT, "env": {**environment, **settings}, "stdout": subprocess.PIPE, "text": True}
    if not line.endswith("&"):
        return subprocess.run(command, check=True, **options).stdout
    server = servers.enter_context(subprocess.Popen(command, **options))
    servers.callback(server.terminate)
    while "ready" not in server.stdout.readline():
        pass
    return ""


def main(names: list[str]) -> None:
    """Run these examples, or all, and write the page."""
    printed = recorded(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    everything = [name for group in GROUPS.values() for name in group]
    for name, lines in played(names or everything):
        printed[name] = lines
        PAGE.write_text(page(printed), encoding="utf-8")
    print(PAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
