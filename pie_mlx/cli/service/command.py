"""`pie service`"""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pie_mlx.cli.options import Common, common_options
from pie_mlx.cli.terminal.errors import FAILED

if TYPE_CHECKING:
    from pie_mlx.cli.service.supervisor import State, Supervisor


@click.group
@common_options
def command() -> None:
    """Have the system start an engine at login: launchd on a Mac, systemd on Linux."""


@command.command
@common_options
@click.pass_obj
def install(common: Common) -> None:
    """Start 'pie serve' now and at each login, and restart it when it fails.

    It uses the configuration, and the present values of $PIE_HOME, HF_HOME and HF_HUB_CACHE. Run this again after a
    change to restart the engine; without a change it does nothing. 'pie stop' ends the engine until the next login.
    """
    from pie_mlx.cli.config.active import active_config, home
    from pie_mlx.cli.service.platform import supervisor_here
    from pie_mlx.cli.service.supervisor import engine_here
    from pie_mlx.client.discovery import is_home_in_use
    from pie_mlx.errors import ConfigError

    active_config(common)  # a service that cannot start would be restarted forever
    supervisor = supervisor_here()
    engine = engine_here(home(), common.config, os.environ, sys.argv[0])
    if is_home_in_use(home()) and not supervisor.state().running:
        raise ConfigError(f"service: an engine is running on {home()} already", hint="end it with 'pie stop'")
    supervisor.install(engine)
    if common.json:
        _print_state(supervisor, supervisor.state())
    elif not common.quiet:
        print(f"installed {supervisor.file}: the engine is started now and at each login")
        print(supervisor.note)


@command.command
@common_options
@click.pass_obj
def status(common: Common) -> int:
    """Say whether the service is installed and whether its engine runs. The exit code is 1 when it does not."""
    from pie_mlx.cli.service.platform import supervisor_here

    supervisor = supervisor_here()
    state = supervisor.state()
    if common.json:
        _print_state(supervisor, state)
    else:
        print(_in_words(state, supervisor.file))
    return 0 if state.running else FAILED


@command.command
@common_options
@click.pass_obj
def remove(common: Common) -> None:
    """End the engine of the service, and do not start it again. Models, programs and settings stay."""
    from pie_mlx.cli.service.platform import supervisor_here

    supervisor = supervisor_here()
    removed = supervisor.remove()
    if common.json:
        print(json.dumps({"removed": removed, "file": str(supervisor.file)}))
    elif not common.quiet:
        print(f"removed {supervisor.file}" if removed else "no service is installed")


def _print_state(supervisor: "Supervisor", state: "State") -> None:
    print(json.dumps({**asdict(state), "file": str(supervisor.file)}))


def _in_words(state: "State", file: Path) -> str:
    if not state.installed:
        return "no service is installed; 'pie service install' installs one"
    if state.running:
        return f"running as process {state.pid}, by {file}"
    last = f"; the last one ended with status {state.exit_status}" if state.exit_status else ""
    return f"installed, but no engine runs{last}; 'pie service install' starts one"
