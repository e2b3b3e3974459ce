"""The `pie` command."""

import contextlib
import os
import sys
from collections.abc import Sequence

import click

import pie_mlx
from pie_mlx.cli.lazy import LazyGroup, Verb
from pie_mlx.cli.options import Common, common_options
from pie_mlx.cli.terminal.errors import FAILED, INTERRUPTED, report_failure
from pie_mlx.cli.terminal.signals import end_at_once_when_interrupted

SECTIONS = {
    "Run": {
        "chat": Verb("pie_mlx.cli.chat", "Talk to a model."),
        "run": Verb("pie_mlx.cli.run.command", "Run a program and show what it sends."),
        "replay": Verb("pie_mlx.cli.replay.command", "Run a program against a recording, without a model."),
        "launch": Verb("pie_mlx.cli.launch.command", "Start a coding agent on an engine."),
        "serve": Verb("pie_mlx.cli.serve.command", "Start an engine that clients can use."),
        "stop": Verb("pie_mlx.cli.stop.command", "End the engine that 'pie serve' has started."),
        "service": Verb("pie_mlx.cli.service.command", "Have the system start an engine at login."),
        "top": Verb("pie_mlx.cli.top.command", "Watch an engine, and steer it."),
    },
    "Programs": {
        "new": Verb("pie_mlx.cli.new", "Write a program to start from, with a test."),
        "eval": Verb("pie_mlx.cli.eval.command", "Score a program over a data set."),
        "build": Verb("pie_mlx.cli.programs.command", "Package a program.", "build"),
        "check": Verb("pie_mlx.cli.check.command", "Check a program or a configuration."),
        "install": Verb("pie_mlx.cli.programs.command", "Install a program.", "install"),
        "list": Verb("pie_mlx.cli.programs.command", "List installed programs.", "list_programs"),
        "show": Verb("pie_mlx.cli.programs.command", "Show an installed program and its parameters.", "show"),
        "remove": Verb("pie_mlx.cli.programs.command", "Remove installed programs.", "remove"),
        "inferlet": Verb("pie_mlx.cli.programs.command", attribute="inferlet"),
    },
    "Processes": {
        "ps": Verb("pie_mlx.cli.processes.command", "List processes.", "ps"),
        "logs": Verb("pie_mlx.cli.processes.command", "Show the output of a process.", "logs"),
        "attach": Verb("pie_mlx.cli.processes.command", "Follow a process and talk to it.", "attach"),
        "signal": Verb("pie_mlx.cli.processes.command", "Send a process a message.", "signal"),
        "kill": Verb("pie_mlx.cli.processes.command", "End processes.", "kill"),
        "trace": Verb("pie_mlx.cli.trace.command", "Print where the time of a program went."),
    },
    "Models": {
        "model": Verb("pie_mlx.cli.model.command", "Find, fetch, convert and remove models."),
        "cache": Verb("pie_mlx.cli.cache", "Show or clear the KV kept on disk."),
    },
    "Setup": {
        "help": Verb("pie_mlx.cli.help"),
        "mcp": Verb("pie_mlx.cli.mcp.command", "Add, list and try MCP servers."),
        "config": Verb("pie_mlx.cli.config.command", "Show and change the configuration."),
        "auth": Verb("pie_mlx.cli.auth", "Control who may connect."),
        "doctor": Verb("pie_mlx.cli.doctor.command", "Find what keeps pie-mlx from working here."),
        "bench": Verb("pie_mlx.cli.bench.command", "Compare with mlx-lm and llguidance on this machine."),
        "completion": Verb("pie_mlx.cli.completion", "Print the script that completes pie's verbs in a shell."),
        "version": Verb("pie_mlx.cli.version", "Print versions."),
    },
    "Remote": {
        "client": Verb("pie_mlx.cli.client.command", "Use an engine anywhere, with the verbs of pie-client."),
    },
}

ELSEWHERE = {
    **dict.fromkeys(("driver", "smoke"), "use 'pie doctor'"),
    **dict.fromkeys(("pull", "download"), "use 'pie model download'"),
    "rm": "use 'pie model remove', or 'pie remove' for a program",
    "ls": "use 'pie model list', or 'pie list' for programs",
    **dict.fromkeys(("models", "tags"), "use 'pie model list'"),
    "status": "use 'pie ps' for programs, 'pie top' for the engine, 'pie service status' for the service",
    **dict.fromkeys(("inspect", "info"), "use 'pie show' for a program, 'pie model show' for a model"),
    **dict.fromkeys(("exec", "submit"), "use 'pie run', or 'pie run -d' to leave it running"),
    **dict.fromkeys(("start", "up"), "use 'pie serve -d'"),
    **dict.fromkeys(("down", "quit", "shutdown"), "use 'pie stop'"),
    "restart": "use 'pie stop', then 'pie serve -d'",
    "debug": "use 'pie run --inline' or 'pie run --debug-port'",
    "watch": "use 'pie run --watch', or 'pie top' to watch the engine",
    "create": "use 'pie new'",
    "search": "use 'pie model search'",
    "stats": "use 'pie top'",
    "env": "use 'pie config show'",
    "generate": "use 'pie chat'",
    "init": "use 'pie new'",
}
"""Verbs of Ollama, mlx-lm and earlier versions, each with what to use here."""


@click.group(
    cls=LazyGroup,
    sections=SECTIONS,
    elsewhere=ELSEWHERE,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"max_content_width": 100},
)
@common_options
@click.version_option(
    pie_mlx.__version__, prog_name="pie-mlx", message="%(prog)s %(version)s", help="Print the version; takes no verb."
)
@click.pass_context
def pie(ctx: click.Context) -> None:
    """Programmable inference: run programs beside the model."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


def execute(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    # Read before parsing: a command line that does not parse is still reported in the requested form.
    common = Common(json="--json" in own, debug="--debug" in own)
    try:
        code = pie.main(list(arguments), prog_name="pie", standalone_mode=False, obj=common)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone: the interpreter must not flush the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return report_failure(error, common)


def main() -> None:
    """The console script."""
    _open_closed_streams()
    end_at_once_when_interrupted()
    code = execute(sys.argv[1:])
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # `execute` has reported it
            stream.flush()
    # Skip the interpreter's shutdown: it waits for program threads that never end, and it races with the destructors of
    # MLX's threads (seen as an abort after an interrupted load).
    os._exit(code)


def _open_closed_streams() -> None:
    """Some supervisors start a command without standard streams; Python then sets them to None."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - open for as long as the process
