"""What one use of `pie run` asks for."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One use of `pie run`."""

    path: Path
    manifest: Path | None = None
    model: str | None = None
    dummy: bool = False
    input: str | None = None
    words: tuple[str, ...] = ()
    timeout_seconds: float | None = None
    token_budget: int | None = None
    files: Path | None = None
    installed: str | None = None
    one_shot: bool = False
    network_hosts: tuple[str, ...] | None = None
    """Hosts the program may reach; () means those of the configuration, None as that says."""
    allow_files: bool = False
    """Whether it has /scratch even where the configuration gives none."""
    port: int | None = None
    """Where its engine listens; None for an engine that nobody else reaches."""
    log: Path | None = None
    """Where the events of its engine are recorded."""
    is_builtin: bool = False
    """Whether the program comes with pie-mlx: its traceback means nothing to the user, who did not write it."""
    takes_turns: bool = False
    """Whether the program says when it is a person's turn."""

    @property
    def needs_own_engine(self) -> bool:
        """Whether it asks for something only an engine of its own can give, whatever is served."""
        given = (self.network_hosts, self.port, self.log)
        return self.one_shot or self.dummy or self.allow_files or any(value is not None for value in given)
