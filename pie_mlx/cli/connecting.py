"""The engine that verbs about processes talk to."""

import getpass
import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click

from pie_mlx.cli.interrupts import Protect, run_interruptible
from pie_mlx.cli.options import Common
from pie_mlx.client import Address, Client, connect, find_engine
from pie_mlx.config import pie_home
from pie_mlx.errors import InvalidArgumentError, SessionClosedError

PREFIX_CHARACTERS = 4
ID_CHARACTERS = 36

Result = TypeVar("Result")


async def open_client(address: Address) -> Client:
    """Connected as the user who runs this command. Raises SessionClosedError and AuthError."""
    if address.unix_socket is not None:
        return await connect(address.url, unix_socket=address.unix_socket)
    return await connect(address.url, username=getpass.getuser())


def engine_address(common: Common) -> Address:
    """Raises SessionClosedError when no engine runs."""
    address = find_engine(common.url, os.environ, pie_home(os.environ))
    if address is None:
        raise SessionClosedError("no engine is running", hint="start one with 'pie serve'")
    return address


def with_client(common: Common, work: Callable[[Client], Coroutine[Any, Any, Result]]) -> Result:
    """Connect, do the work, disconnect. Raises KeyboardInterrupt when it was interrupted."""
    address = engine_address(common)

    async def run(protect: Protect) -> Result:
        async with await open_client(address) as client:
            protect()
            return await work(client)

    return run_interruptible(run)


async def whole_id(client: Client, word: str) -> str:
    """The id a prefix stands for. Raises InvalidArgumentError for none or several, click.UsageError for a short one."""
    if len(word) == ID_CHARACTERS:
        return word.lower()
    if len(word) < PREFIX_CHARACTERS:
        raise click.UsageError(f"'{word}': give at least {PREFIX_CHARACTERS} characters of an id")
    found = [row["id"] for row in await client.processes(all=True, id_prefix=word)]
    if not found:
        raise InvalidArgumentError(f"process {word}: there is none", hint="'pie ps --all' lists them")
    if len(found) > 1:
        raise InvalidArgumentError(f"process {word}: several begin so", hint=f"one of {', '.join(found)}")
    return str(found[0])
