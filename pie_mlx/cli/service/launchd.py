"""A launchd agent of one user."""

import plistlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pie_mlx.cli.service.supervisor import END_SECONDS, NAME, RESTART_SECONDS, Engine, Run, State, refused
from pie_mlx.files import write_file

_POLL_SECONDS = 0.1
_HINT = "an agent needs a login at this Mac's own screen: it starts at the next one"
_READABLE = 0o644


@dataclass(frozen=True, slots=True)
class Launchd:
    """`agents` and `logs` are directories of the user with number `uid`."""

    agents: Path
    logs: Path
    uid: int
    run: Run
    sleep: Callable[[float], None] = time.sleep

    @property
    def file(self) -> Path:
        return self.agents / f"{NAME}.plist"

    @property
    def note(self) -> str:
        return f"what it prints is in {self._log}"

    def install(self, engine: Engine) -> None:
        described = self._describe(engine)
        printed = self._printed()
        if printed is not None and not self._holds(described):
            self._unload()
            printed = None
        self.agents.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)
        write_file(self.file, described, _READABLE)
        if printed is None:
            self._launchctl("enable", self._target)  # it may have been disabled by hand
            self._launchctl("bootstrap", self._domain, str(self.file))
        elif not self.state().running:
            self._launchctl("kickstart", self._target)

    def state(self) -> State:
        printed = self._printed()
        if printed is None:
            return State(self.file.exists())
        pid, status = (re.search(rf"^\s*{key} = (\d+)", printed, re.MULTILINE) for key in ("pid", "last exit code"))
        return State(True, pid is not None, int(pid[1]) if pid else None, int(status[1]) if status else None)

    def remove(self) -> bool:
        loaded, known = self._printed() is not None, self.file.exists()
        if loaded:
            self._unload()
        self.file.unlink(missing_ok=True)
        return loaded or known

    def _describe(self, engine: Engine) -> bytes:
        return plistlib.dumps(
            {
                "Label": NAME,
                "ProgramArguments": list(engine.command),
                "EnvironmentVariables": dict(engine.environment),
                "RunAtLoad": True,
                # 'pie stop' ends an engine for good; one that fails comes back.
                "KeepAlive": {"SuccessfulExit": False},
                "ThrottleInterval": RESTART_SECONDS,
                "ExitTimeOut": END_SECONDS,
                # The system slows other types down as background work.
                "ProcessType": "Interactive",
                "StandardOutPath": str(self._log),
                "StandardErrorPath": str(self._log),
            }
        )

    @property
    def _log(self) -> Path:
        return self.logs / f"{NAME}.log"

    @property
    def _domain(self) -> str:
        return f"gui/{self.uid}"

    @property
    def _target(self) -> str:
        return f"{self._domain}/{NAME}"

    def _holds(self, described: bytes) -> bool:
        return self.file.exists() and self.file.read_bytes() == described

    def _printed(self) -> str | None:
        """launchd's description of the agent; None where it is not loaded."""
        ran = self.run(["launchctl", "print", self._target])
        return None if ran.code else ran.output

    def _unload(self) -> None:
        """Unload, and wait until the engine has ended: launchd answers earlier. Raises ProcessError."""
        command = ["launchctl", "bootout", self._target]
        ran = self.run(command)
        for _ in range(round(2 * END_SECONDS / _POLL_SECONDS)):
            if self._printed() is None:
                return
            self.sleep(_POLL_SECONDS)
        raise refused(command, ran, "end the engine with 'pie stop' and try it again")

    def _launchctl(self, *words: str) -> None:
        command = ["launchctl", *words]
        ran = self.run(command)
        if ran.code:
            raise refused(command, ran, _HINT)
