"""Connect to the engine that a verb is about."""

import getpass
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.interrupts import Protect, run_interruptible
from pie_mlx.client import Address, Client, connect, find_engine
from pie_mlx.client.discovery import is_home_in_use
from pie_mlx.config import pie_home
from pie_mlx.errors import AuthError, EngineKeyError, InvalidArgumentError, SessionClosedError

CREDENTIALS = ("PIE_USER", "PIE_KEY", "PIE_TOKEN")
"""For an engine at an address: the user, the file of that user's private key, and the engine's token. They are not
options, because other users of this machine can read command lines."""
UNBOUND = "PIE_UNBOUND_LOGIN"
"""Set to log in to engines of the first release, which do not prove their identity."""
PREFIX_CHARACTERS = 4
ID_CHARACTERS = 36

Result = TypeVar("Result")


async def open_client(address: Address) -> Client:
    """Connected as the user who runs this command, or as the environment says. Raises SessionClosedError, AuthError."""
    if address.unix_socket is not None:
        return await connect(address.url, unix_socket=address.unix_socket)
    if address.token is not None:
        return await connect(address.url, token=address.token, username=getpass.getuser())
    user, key, token = (os.environ.get(name) or None for name in CREDENTIALS)
    user, key_file = address.username or user, address.key_file or (Path(key) if key else None)
    if key_file is None and address.username is None and (own := default_key_file(os.environ)).exists():
        key_file = own
    if token is not None and address.username is None:
        return await connect(address.url, token=token, username=user)
    try:
        return await connect(
            address.url,
            username=user or getpass.getuser(),
            key_file=key_file,
            allow_unbound=bool(os.environ.get(UNBOUND)),
        )
    except EngineKeyError:
        raise
    except AuthError as error:
        hint = "set PIE_USER and PIE_KEY (a private key's file), or PIE_TOKEN"
        raise AuthError(
            error.message, hint=hint if address.username is None else "--username, --private-key-path"
        ) from None


def default_key_file(environment: Mapping[str, str]) -> Path:
    """The default file of 'pie auth new-key'."""
    return pie_home(environment) / "keys" / "id_ed25519"


def key_in_use(environment: Mapping[str, str]) -> Path:
    """The key that the environment names, else the default one, which may not exist."""
    return Path(environment["PIE_KEY"]) if environment.get("PIE_KEY") else default_key_file(environment)


def engine_address(common: Common) -> Address:
    """Raises SessionClosedError when no engine runs."""
    address = common.address or find_engine(common.url, os.environ, pie_home(os.environ))
    if address is None:
        if is_home_in_use(pie_home(os.environ)):
            raise SessionClosedError("the engine is starting or ending", hint="try it again in a moment")
        raise SessionClosedError("no engine is running", hint="start one with 'pie serve -d'")
    return address


def with_client(common: Common, work: Callable[[Client], Coroutine[Any, Any, Result]]) -> Result:
    """Connect, do the work, disconnect. Raises KeyboardInterrupt after an interruption."""
    address = engine_address(common)

    async def run(protect: Protect) -> Result:
        async with await open_client(address) as client:
            protect()
            return await work(client)

    return run_interruptible(run)


async def full_id(client: Client, word: str) -> str:
    """The full id for a prefix, among the processes of the engine.

    Raises InvalidArgumentError for none or several, click.UsageError for a short one.
    """
    if is_full_id(word):
        return word.lower()
    found = [row["id"] for row in await client.processes(all=True, id_prefix=word)]
    return single_match(word, found, verb="pie ps --all")


def is_full_id(word: str) -> bool:
    """Whether the word is a full id, not a prefix. Raises click.UsageError for a short one."""
    if len(word) < PREFIX_CHARACTERS:
        raise click.UsageError(f"'{word}': give at least {PREFIX_CHARACTERS} characters of an id")
    return len(word) == ID_CHARACTERS


def single_match(word: str, found: Sequence[str], *, verb: str) -> str:
    """The only match; `verb` is the command that lists all. Raises InvalidArgumentError for none or several."""
    if not found:
        raise InvalidArgumentError(f"process {word}: there is none", hint=f"'{verb}' lists them")
    if len(found) > 1:
        raise InvalidArgumentError(f"process {word}: several ids begin with it", hint=f"one of {', '.join(found)}")
    return found[0]
