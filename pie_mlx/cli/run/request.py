"""What one use of `pie run` asks for."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One use of `pie run`."""

    path: Path
    manifest: Path | None = None
    model: str | None = None
    served_model: str = ""
    """The name of the running engine's model that it runs on; "" is that engine's default one."""
    dummy: bool = False
    input: str | None = None
    words: tuple[str, ...] = ()
    timeout_seconds: float | None = None
    token_budget: int | None = None
    files: Path | None = None
    installed: str | None = None
    one_shot: bool = False
    network_hosts: tuple[str, ...] | None = None
    """Hosts the program may reach: () the configured ones; None leaves it to the configuration."""
    allow_files: bool = False
    """Whether it gets /scratch even if the configuration gives none."""
    port: int | None = None
    """The port its engine listens on; None for an engine that takes no clients."""
    log: Path | None = None
    """The file that records the events of its engine."""
    inline: bool = False
    """Whether it runs on the main thread of this command."""
    in_worker: bool = False
    """Whether it runs in a process of its own, whatever the configuration says."""
    debug_port: int | None = None
    """The port of this machine where it waits for a debugger."""
    watch: bool = False
    """Whether it runs again after each change of its files."""
    mcp: Path | None = None
    """The file of MCP servers for this run."""
    record: Path | None = None
    """The file that records the program, for `pie replay`."""
    trace: Path | None = None
    """The file that gets a trace of it."""
    is_builtin: bool = False
    """Whether the program comes with pie-mlx: its traceback means nothing to the user, who did not write it."""
    takes_turns: bool = False
    """Whether the program announces when it is the user's turn."""

    @property
    def needs_own_engine(self) -> bool:
        """Whether an option needs an engine of its own, whatever the running one serves."""
        given = (self.network_hosts, self.port, self.log, self.record, self.debug_port)
        flags = self.one_shot or self.dummy or self.allow_files or self.inline
        return flags or any(value is not None for value in given)
