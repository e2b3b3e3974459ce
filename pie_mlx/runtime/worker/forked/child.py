"""The life of a forked worker."""

import contextlib
import faulthandler
import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import Protocol

from pie_mlx.errors import LaunchError, PieError
from pie_mlx.runtime.execution.entry import ProgramBody
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.output_capture import Write
from pie_mlx.runtime.execution.program_run import ProgramRun
from pie_mlx.runtime.file_tree import measure
from pie_mlx.runtime.program.manifest import Manifest, RuntimeSettings
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.program.semver import Version
from pie_mlx.runtime.sandbox import Policy, confine
from pie_mlx.runtime.sandbox.capabilities import drop_capabilities
from pie_mlx.runtime.sandbox.interpreter import interpreter_paths
from pie_mlx.runtime.sandbox.scratch import Scratch, SpaceCheck, install
from pie_mlx.runtime.worker.compiled.running import run_compiled
from pie_mlx.runtime.worker.draws import make_repeatable, reported, since
from pie_mlx.runtime.worker.forked.debugger import debugged, open_channel
from pie_mlx.runtime.worker.forked.descendants import adopt_orphans, die_with_parent
from pie_mlx.runtime.worker.forked.host import WorkerHost
from pie_mlx.runtime.worker.forked.node import NODE_LINK, node_policy, node_variables
from pie_mlx.runtime.worker.forked.streams import use_streams
from pie_mlx.runtime.worker.frames.messages import Draws, Ended, LaunchSpec, NodeStart, ProgramLocation, WireError
from pie_mlx.runtime.worker.limits import apply_limits, limit_node, memory_exceeded, open_reserve
from pie_mlx.runtime.worker.proxy_route import ProxyListener, certificate_paths, leave_network, set_up_route
from pie_mlx.runtime.worker.workspaces import scratch_quota

BROKEN_STATUS = 71
"""Exit status of a worker that failed outside of its program."""


def run(link_fd: int, stdout_fd: int, stderr_fd: int, *, isolated: bool, parent: int, lifeline: int) -> None:
    """Become a worker: wait for a launch spec, run it, exit. Never returns.

    If `isolated`, it leaves the machine's network, which takes milliseconds, before it waits. It dies with `parent`, or
    when `lifeline` closes.
    """
    try:
        _set_up_process(stdout_fd, stderr_fd)
        listener = leave_network() if isolated else None
        drop_capabilities()
        die_with_parent(parent, lifeline)  # last: changing capabilities can undo it
        os.set_inheritable(link_fd, False)  # received descriptors are inheritable
        host = WorkerHost(socket.socket(fileno=link_fd))
        os.register_at_fork(after_in_child=host.disown)
        spec = host.spec()
        use_streams(host.write)
        if isinstance(spec, NodeStart):
            _become_node(spec, host, listener)
        else:
            _run_spec(spec, host, listener)
    except BaseException as error:  # must not return into the fork server's code
        with contextlib.suppress(BaseException):
            os.write(2, f"[pie] worker: {type(error).__name__}: {error}\n".encode())
        os._exit(BROKEN_STATUS)
    os._exit(0)


def _set_up_process(stdout_fd: int, stderr_fd: int) -> None:
    """Start a process group, so that one signal reaches all descendants; redirect output to the pipes, close input.

    Not a session: Linux gives each session the same share of the processors, so many workers would starve the engine.
    """
    os.setpgid(0, 0)
    adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (stdout_fd, 1), (stderr_fd, 2)):
        os.dup2(source, target)
        os.close(source)
    if sys.version_info >= (3, 14):
        # The C stack is longer than the kept output of a program.
        faulthandler.enable(file=2, c_stack=False)
    else:
        faulthandler.enable(file=2)


def _run_spec(spec: LaunchSpec, host: WorkerHost, listener: ProxyListener) -> None:
    try:
        channel = open_channel(host) if spec.debugged else None
        program = _new_run(spec, host)
        confine_program(spec, host.write, lambda: set_up_route(spec, listener, host.hand_over))
    except PieError as error:
        host.end(Ended(error=WireError.of(error)))
        return
    if spec.draws is not None:
        if isinstance(program, ProgramRun):
            make_repeatable(spec.draws, reported(host.tell_clock, since(spec.draws.began_ns)))
        else:
            program.make_repeatable(spec.draws)
    host.listen(program.cancel)
    with contextlib.nullcontext() if channel is None else debugged(channel):
        program.run(contextlib.nullcontext())


class _RepeatingRun(Protocol):
    """A run that goes on from a recording."""

    def run(self, capture: AbstractContextManager[None]) -> None: ...

    def cancel(self, reason: str) -> None: ...

    def make_repeatable(self, draws: Draws) -> None:
        """Replace the clocks and the sources of random numbers of this interpreter."""
        ...


def _new_run(spec: LaunchSpec, host: WorkerHost) -> ProgramRun | _RepeatingRun:
    """A run of the program. Raises InvalidArgumentError for a recording that cannot be read."""
    body, report = partial(_run_program, spec), partial(_report, host, spec)
    if spec.draws is None or not spec.draws.recording:
        return ProgramRun(body, host, report, on_loop=host.attend)
    root = Path(spec.source.directory or spec.source.main_file)
    return resolve_name(spec.draws.run_by)(Path(spec.draws.recording), body, root, host, report)


def _become_node(start: NodeStart, host: WorkerHost, listener: ProxyListener) -> None:
    spec = start.spec
    try:
        _enter(spec)
        port = set_up_route(spec, listener, host.hand_over)
        limit_node(spec)
        build_walls(spec, host.write, node_policy(start, port))
    except PieError as error:
        host.end(Ended(error=WireError.of(error)))
        return
    os.environ.update(node_variables(proxied=port is not None))
    host.bequeath(NODE_LINK)
    os.execve(start.command[0], start.command, os.environ)


def _run_program(spec: LaunchSpec) -> object:
    if spec.compiled is not None:
        return run_compiled(spec, spec.compiled)
    program = _program(spec)
    return ProgramBody(program)(json.loads(spec.input))


def confine_program(spec: LaunchSpec, write: Write, open_route: Callable[[], int | None]) -> None:
    """Give this process the program's environment, directory, limits and walls. `write` gets warnings, `open_route`
    makes the proxy reachable and returns its port. Raises LaunchError."""
    sys.argv[:] = [spec.source.main_file]  # replaces those of the fork server
    _enter(spec)
    apply_limits(spec)
    walls = build_walls(spec, write, _policy(spec, open_route()))
    quota = scratch_quota(spec.scratch_max_bytes)
    room = SpaceCheck(lambda: quota.holds(measure(spec.workspace, quota)), spec.scratch_max_bytes, quota.entries)
    install(Scratch(spec.workspace, spec.lasting, room, frozen_attributes=walls))


def _enter(spec: LaunchSpec) -> None:
    os.environ.clear()
    os.environ.update(spec.environment)
    os.chdir(spec.workspace)


def build_walls(spec: LaunchSpec, write: Write, policy: Policy) -> bool:
    """Confine the process; returns whether that worked. Raises LaunchError if it is required and fails."""
    if spec.sandbox == "off":
        return False
    confinement = confine(policy)
    if confinement.missing and spec.sandbox == "required":
        raise LaunchError(
            f"sandbox: {confinement.text}", hint="set [runtime] sandbox = 'best-effort' to run without it"
        )
    if confinement.missing:
        write("stderr", f"[pie] sandbox: {confinement.text}\n")
    return "processes" not in confinement.missing


def _policy(spec: LaunchSpec, proxy_port: int | None) -> Policy:
    is_component = spec.compiled is not None
    readable = (*interpreter_paths(), *spec.source.paths(), *([spec.compiled.file] if spec.compiled else ()))
    if proxy_port is None:
        return Policy(readable, (spec.workspace,), compiles=is_component)
    readable += tuple(certificate_paths())
    isolated = spec.route == "namespace"
    return Policy(readable, (spec.workspace,), proxy_port, isolated, compiles=is_component)


def _report(host: WorkerHost, spec: LaunchSpec, outcome: Outcome) -> None:
    if not isinstance(outcome, Failed):
        _tell_of_lost_files(host, spec)
        host.end(Ended(outcome.value, outcome.format))
        return
    error = outcome.error
    if isinstance(error, MemoryError) and not isinstance(error, PieError) and spec.max_memory_bytes:
        open_reserve()
        error = memory_exceeded(spec.max_memory_bytes)
    sys.stderr.flush()
    host.end(Ended(error=WireError.of(error)))


def _tell_of_lost_files(host: WorkerHost, spec: LaunchSpec) -> None:
    """Warn about files in a directory that is removed with the program, except hidden and temporary ones."""
    if spec.lasting:
        return
    try:
        found = os.listdir(spec.workspace)
    except OSError:  # the program has removed it
        return
    names = sorted(name for name in found if not name.startswith((".", tempfile.gettempprefix())))
    if names:
        sys.stdout.flush()
        more = f" and {len(names) - 1} more" if names[1:] else ""
        host.write(
            "stderr",
            f"[pie] {names[0]!r}{more}: removed with the program; send files with session.send_file, or keep "
            "them in /scratch with --allow-fs\n",
        )


def _program(spec: LaunchSpec) -> Program:
    return _sourced(spec.source, spec.identity, RuntimeSettings(spec.entry, spec.call))


def _sourced(source: ProgramLocation, identity: str, runtime: RuntimeSettings) -> Program:
    name, _, _ = identity.partition("@")
    return Program(
        Manifest(name, Version((0, 0, 0)), runtime=runtime),
        Path(source.main_file),
        Path(source.directory) if source.directory else None,
        {name: _sourced(one, name, RuntimeSettings()) for name, one in source.dependencies.items()},
    )
