"""What each client is asked to do, and what the model says meanwhile."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.scripted import answers, offered_tools, tool_call

BEFORE, AFTER = "This is teh note.\n", "This is the note.\n"
TASK = "Correct the spelling in note.txt."
GREETING, WEATHER, DONE = "Hello there.", "It is 21 degrees in Paris.", "The spelling is correct now."
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Agent:
    """A command line that edits a file by two calls. `tools` tell its requests from others'."""

    arguments: Sequence[str]
    tools: frozenset[str]
    calls: Callable[[str], Sequence[Call]]


def _claude(file: str) -> Sequence[Call]:
    edit = {"file_path": file, "old_string": "teh", "new_string": "the"}
    return [("Read", {"file_path": file}), ("Edit", edit)]


def _codex(file: str) -> Sequence[Call]:
    return [("exec_command", {"cmd": f"cat {file}"}), ("exec_command", {"cmd": f"sed -i.bak s/teh/the/ {file}"})]


def _opencode(file: str) -> Sequence[Call]:
    return [("read", {"filePath": file}), ("edit", {"filePath": file, "oldString": "teh", "newString": "the"})]


def _qwen(file: str) -> Sequence[Call]:
    edit = {"file_path": file, "old_string": "teh", "new_string": "the"}
    return [("read_file", {"file_path": file}), ("edit", edit)]


AGENTS = {
    "claude": Agent(
        ["-p", TASK, "--permission-mode", "acceptEdits", "--allowedTools", "Read,Edit"],
        frozenset({"Read", "Edit"}),
        _claude,
    ),
    "codex": Agent(
        ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK],
        frozenset({"exec_command"}),
        _codex,
    ),
    "opencode": Agent(["run", TASK], frozenset({"read", "edit", "bash"}), _opencode),
    "qwen-code": Agent(["-p", TASK, "--approval-mode", "yolo"], frozenset({"read_file", "edit"}), _qwen),
}


@dataclass
class Script:
    """The replies to all clients; `note` is the file that agents edit."""

    note: Path | None = None

    def __call__(self, prompt: str) -> str:
        offered, answered = offered_tools(prompt), answers(prompt)
        if "weather" in offered:
            return WEATHER if answered else tool_call("weather", {"city": "Paris"})
        agent = next((agent for agent in AGENTS.values() if agent.tools <= offered), None)
        if agent is None or self.note is None:
            return GREETING
        calls = agent.calls(str(self.note))
        return tool_call(*calls[answered]) if answered < len(calls) else DONE
