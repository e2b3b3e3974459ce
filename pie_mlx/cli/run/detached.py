"""`pie run -d`: start a program on a running engine, and leave it there."""

import json

from pie_mlx.cli.engine.connection import open_client
from pie_mlx.cli.options import Common
from pie_mlx.cli.run.remote import RemoteRun, prepared
from pie_mlx.cli.run.request import RunRequest
from pie_mlx.cli.terminal.errors import INTERRUPTED
from pie_mlx.cli.terminal.interrupts import Protect, run_interruptible
from pie_mlx.client import Address


def run_detached(address: Address, request: RunRequest, common: Common) -> int:
    """Start the program, print the id of its process, and return the exit code. Raises PieError, click.UsageError."""

    async def run(protect: Protect) -> str:
        return await _start(prepared(request, common)(address), protect)

    try:
        process = run_interruptible(run)
    except KeyboardInterrupt:
        return INTERRUPTED
    print(json.dumps({"process": process}) if common.json else process)
    return 0


async def _start(run: RemoteRun, protect: Protect) -> str:
    async with await open_client(run.address) as client:
        protect()
        process, _ = await run.launch(client, attach=False)
        return process.id
