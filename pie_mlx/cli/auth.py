"""`pie auth`"""

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pie_mlx.cli.options import Common, common_options
from pie_mlx.cli.terminal.confirm import confirm
from pie_mlx.cli.terminal.standard_input import piped_text
from pie_mlx.cli.terminal.text import table

if TYPE_CHECKING:
    from pie_mlx.config.authorized_users import AuthorizedUsers


@click.group
@common_options
def command() -> None:
    """Control who may connect, by public key."""


@command.command
@click.argument("user")
@click.argument("key_name", required=False)
@common_options
@click.pass_obj
def add(common: Common, user: str, key_name: str | None) -> None:
    """Add a public key, read from standard input, and print its fingerprint.

    \b
    pie auth add ada < ada.pub
    """
    users = _users(common)
    if sys.stdin.isatty():
        print("pie: paste the public key, then press Return and Ctrl-D", file=sys.stderr)
    name = key_name or time.strftime("%Y-%m-%d-%H:%M:%S")
    key = users.add(user, name, piped_text())
    row = {"user": user, "key": name, "type": key.type, "fingerprint": key.fingerprint}
    print(json.dumps(row) if common.json else key.fingerprint)


@command.command
@click.argument("user")
@click.argument("key_name", required=False)
@click.option("-y", "--yes", is_flag=True, help="Remove a user with all keys without asking.")
@common_options
@click.pass_obj
def remove(common: Common, user: str, key_name: str | None, yes: bool) -> None:
    """Remove one key of a user, or the user."""
    users = _users(common)
    found = users.users().get(user)
    if key_name is None and found is not None:
        question = f"Remove the user {user} with {len(found)} {'key' if len(found) == 1 else 'keys'}?"
        confirm(question, refusal=f"the user {user} was not removed", yes=yes)
    removed = users.remove(user, key_name)
    print(json.dumps({"user": user, "removed": removed}) if common.json else "\n".join(f"removed {n}" for n in removed))


@command.command("list")
@common_options
@click.pass_obj
def list_keys(common: Common) -> None:
    """List users and their keys."""
    users = _users(common)
    rows = [
        {"user": user, "key": name, "type": key.type, "fingerprint": key.fingerprint}
        for user, keys in sorted(users.users().items())
        for name, key in keys.items()
    ]
    if common.json:
        print(json.dumps(rows))
    elif rows:
        print(table(("USER", "KEY", "TYPE", "FINGERPRINT"), [list(row.values()) for row in rows]))
    else:
        print(f"no user can connect with a key: {users.file} holds none", file=sys.stderr)


@command.command("new-key")
@click.argument("file", required=False, type=click.Path(path_type=Path, dir_okay=False))
@common_options
@click.pass_obj
def make_key(common: Common, file: Path | None) -> None:
    """Make a key that only logs in to engines, and print its public half, for 'pie auth add' at the engine.

    \b
    pie auth new-key > ada.pub
    """
    from pie_mlx.cli.engine.connection import default_key_file
    from pie_mlx.client.keys import new_key
    from pie_mlx.config.public_keys import parse_public_key

    path = file or default_key_file(os.environ)
    line = new_key(path)
    row = {"path": str(path), "public_key": line, "fingerprint": parse_public_key(line).fingerprint}
    print(json.dumps(row) if common.json else line)
    if not common.quiet:
        print(f"pie: the private key is {path}", file=sys.stderr)


@command.command
@click.argument("engine", metavar="URL")
@click.option(
    "--in", "file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="The file known_engines."
)
@common_options
@click.pass_obj
def trust(common: Common, engine: str, file: Path | None) -> None:
    """Trust the engine that is at URL now, even if another one was there before, and print its key's fingerprint.

    Compare it with the one that 'pie serve' prints there.
    """
    from pie_mlx.cli.engine.connection import key_in_use
    from pie_mlx.cli.terminal.interrupts import run_interruptible
    from pie_mlx.client import connect
    from pie_mlx.client.known_engines import KnownEngines
    from pie_mlx.login import fingerprint

    async def ask(protect: object) -> bytes:
        del protect
        async with await connect(engine) as client:
            return await client.engine_key()

    key = run_interruptible(ask)
    known = KnownEngines(file) if file else KnownEngines.beside(key_in_use(os.environ))
    known.trust(engine, key)
    print(json.dumps({"url": engine, "fingerprint": fingerprint(key)}) if common.json else fingerprint(key))


def _users(common: Common) -> "AuthorizedUsers":
    from pie_mlx.cli.config.active import active_config, home
    from pie_mlx.config.authorized_users import AuthorizedUsers, authorized_users_file

    return AuthorizedUsers(authorized_users_file(active_config(common).config, home()))
