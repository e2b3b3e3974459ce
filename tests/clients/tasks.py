"""What each client is asked to do, and what the model says meanwhile."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.scripted import answers, ends_with_result, offered_tools, tool_call

BEFORE, AFTER = "This is teh note.\n", "This is the note.\n"
TASK = "Correct the spelling in note.txt."
GREETING, WEATHER, DONE = "Hello there.", "It is 21 degrees in Paris.", "The spelling is correct now."
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Agent:
    """A command line that edits a file by calls. `tools` tell its requests from others'.

    Where there is no command line, `program` is one, in the environment of that name.
    """

    arguments: Sequence[str]
    tools: frozenset[str]
    calls: Callable[[str], Sequence[Call]]
    program: Path | None = None

    @property
    def takes_turns(self) -> bool:
        """Whether its second request repeats the first one."""
        return bool(self.tools)


def _none(file: str) -> Sequence[Call]:
    """It writes the file into its reply."""
    del file
    return []


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


def _openhands(file: str) -> Sequence[Call]:
    edit = {"command": "str_replace", "path": file, "old_str": "teh", "new_str": "the"}
    return [("file_editor", {"command": "view", "path": file}), ("file_editor", edit)]


def _pi(file: str) -> Sequence[Call]:
    edit = {"path": file, "edits": [{"oldText": "teh", "newText": "the"}]}
    return [("read", {"path": file}), ("edit", edit)]


AGENTS = {
    "aider": Agent(
        ["--message", TASK, "--yes-always", "--no-git", "--no-show-model-warnings", "note.txt"], frozenset(), _none
    ),
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
    "openhands": Agent([TASK], frozenset({"file_editor"}), _openhands, Path(__file__).with_name("openhands_agent.py")),
    "pi": Agent(["-p", TASK], frozenset({"read", "edit", "write", "bash"}), _pi),
    "qwen-code": Agent(["-p", TASK, "--approval-mode", "yolo"], frozenset({"read_file", "edit"}), _qwen),
}


def _agent_of(prompt: str, offered: set[str]) -> Agent | None:
    """The agent that sent a prompt: pi offers what opencode does, and names itself."""
    found = [agent for agent in AGENTS.values() if agent.tools and agent.tools <= offered]
    return AGENTS["pi"] if AGENTS["pi"] in found and "pi" in prompt.split() else next(iter(found), None)


def _weather(prompt: str, offered: set[str]) -> str:
    """What is said of the weather: a call, and then its result, by another call where answers are called."""
    if not ends_with_result(prompt):
        return tool_call("weather", {"city": "Paris"})
    return tool_call("final_answer", {"answer": WEATHER}) if "final_answer" in offered else WEATHER


@dataclass
class Script:
    """The replies to all clients; `note` is the file that agents edit."""

    note: Path | None = None

    def __call__(self, prompt: str) -> str:
        offered, answered = offered_tools(prompt), answers(prompt)
        if "weather" in offered:
            return _weather(prompt, offered)
        if "[[ ## answer ## ]]" in prompt:
            return f"[[ ## answer ## ]]\n{WEATHER}\n\n[[ ## completed ## ]]"
        if TASK in prompt and not offered:
            return f"{DONE}\n\nnote.txt\n```\n{AFTER}```\n"
        agent = _agent_of(prompt, offered)
        if agent is None or self.note is None:
            return GREETING
        calls = agent.calls(str(self.note))
        return tool_call(*calls[answered]) if answered < len(calls) else DONE
