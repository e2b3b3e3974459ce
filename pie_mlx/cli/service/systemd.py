"""A systemd unit of one user."""

from dataclasses import dataclass
from pathlib import Path

from pie_mlx.cli.service.supervisor import END_SECONDS, NAME, RESTART_SECONDS, Engine, Run, State, refused
from pie_mlx.files import write_file

_UNIT = f"{NAME}.service"
_HINT = "log in as this user, not by su or sudo: units of users run in a session"
_READABLE = 0o644


@dataclass(frozen=True, slots=True)
class Systemd:
    """`units` is the directory of the user's own units."""

    units: Path
    run: Run

    @property
    def file(self) -> Path:
        return self.units / _UNIT

    @property
    def note(self) -> str:
        return f"'journalctl --user -u {NAME}' shows what it prints; 'loginctl enable-linger' keeps it after a logout"

    def install(self, engine: Engine) -> None:
        self._systemctl("show-environment")  # fails here before anything is written
        described = _describe(engine).encode()
        changed = not self.file.exists() or self.file.read_bytes() != described
        self.units.mkdir(parents=True, exist_ok=True)
        write_file(self.file, described, _READABLE)
        self._systemctl("daemon-reload")
        self._systemctl("enable", _UNIT)
        self._systemctl("restart" if changed else "start", _UNIT)

    def state(self) -> State:
        if not self.file.exists():
            return State(False)
        shown = self._systemctl("show", _UNIT, "--property=ActiveState,MainPID,ExecMainStatus")
        facts = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
        pid, status = (int(facts.get(key) or 0) for key in ("MainPID", "ExecMainStatus"))
        running = facts.get("ActiveState") == "active"
        return State(True, running, pid or None, None if running else status)

    def remove(self) -> bool:
        if not self.file.exists():
            return False
        self._systemctl("disable", "--now", _UNIT)
        self.file.unlink()
        self._systemctl("daemon-reload")
        return True

    def _systemctl(self, *words: str) -> str:
        command = ["systemctl", "--user", *words]
        ran = self.run(command)
        if ran.code:
            raise refused(command, ran, _HINT)
        return ran.output


def _describe(engine: Engine) -> str:
    environment = "".join(f"Environment={_quoted(f'{key}={value}')}\n" for key, value in engine.environment.items())
    command = " ".join(_quoted(word).replace("$", "$$") for word in engine.command)
    return f"""[Unit]
Description=The engine of pie-mlx

[Service]
Type=exec
ExecStart={command}
{environment}Restart=on-failure
RestartSec={RESTART_SECONDS}
TimeoutStopSec={END_SECONDS}

[Install]
WantedBy=default.target
"""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
