"""The pictures of docs/jobs/find-a-fault.md: `python -m tools.fault_pictures`.

Each fault is put into a program of the gallery, the program is run on pie-tiny, and what the commands print becomes a
terminal as SVG. Ids, times and temporary names differ between runs.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tools.monitor.picture import portable

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "images"
COLUMNS = 104

SLOW = """\
from inferlet import Context, Model, Sampler, runtime

NOTES = "The rain in Lima is warm and the wind in Oslo is cold. " * 60


async def main(input):
    model = Model.load(runtime.models()[0])
    for number in range(3):
        with Context(model) as context:
            context.user(f"Request {number}. {NOTES}")
            await context.generate(Sampler.argmax(), max_tokens=12).collect_text()
"""
Run = Callable[..., str]


def swarm(run: Run) -> list[str]:
    """A worker asks for a name that its input does not have."""
    worker = Path("examples/swarm/worker.py")
    worker.write_text(worker.read_text().replace('input["number"]', 'input["worker"]'))
    return [run("run", "examples/swarm", "--", "--workers", "3")]


def wrong_tool(run: Run) -> list[str]:
    """A program changes the name of a tool."""
    main = Path("examples/react-agent/main.py")
    main.write_text(main.read_text().replace("server.call_tool(name, ", 'server.call_tool(name.replace("_", "-"), '))
    config = ("-c", "examples/react-agent/config.toml")
    return [
        run("run", "examples/react-agent", *config, "--", "--question", "What time is it in Lima?"),
        run("mcp", "test", "almanac", *config),
    ]


def slow_prompt(run: Run) -> list[str]:
    """What prompts have in common comes last, and then first."""
    program = Path("slow.py")
    program.write_text(SLOW)
    before = [run("run", "slow.py", "--trace", "out.json"), run("trace", "out.json")]
    program.write_text(SLOW.replace('"Request {number}. {NOTES}"', '"{NOTES} Request {number}."'))
    return [*before, run("run", "slow.py", "--trace", "out.json"), run("trace", "out.json")]


FAULTS = {"fault-swarm": swarm, "fault-tool": wrong_tool, "fault-slow": slow_prompt}


def terminal(title: str, text: str) -> str:
    """A terminal with a text, as SVG. Lines that begin with `$ ` are what was typed."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor")
    for line in text.splitlines():
        typed = line.startswith("$ ")
        console.print(Text(line, "bold green" if typed else "red" if "Error" in line else ""), soft_wrap=False)
    return portable(console.export_svg(title=title, unique_id=title.replace(" ", "-")))


def pictured(fault: Callable[[Run], list[str]]) -> str:
    """What the commands of a fault print, in an empty folder with the gallery."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        try:
            return "\n".join(fault(_run)).replace(f"{os.path.realpath(folder)}/", "").replace(f"{folder}/", "")
        finally:
            os.chdir(home)


def _run(*words: str) -> str:
    environment = {**os.environ, "PIE_HOME": os.path.abspath("home"), "COLUMNS": str(COLUMNS)}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    command = [sys.executable, "-m", "pie_mlx", *words]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    typed = " ".join(f'"{word}"' if " " in word else word for word in words)
    return f"$ pie {typed}\n{ran.stderr}{ran.stdout}".rstrip() + "\n"


def main() -> None:
    for name, fault in FAULTS.items():
        path = FOLDER / f"{name}.svg"
        path.write_text(terminal(name, pictured(fault)), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
