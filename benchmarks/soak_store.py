"""A disk cache that several engines use while it is removed and they are killed, and what is then wrong with it."""

import asyncio
import contextlib
import shutil
import sys
import time
from pathlib import Path

from pie_mlx.engine.paging.disk.batch_file import Wanted, read_header, read_records
from pie_mlx.engine.paging.disk.directory import ABANDONED_SECONDS, CacheDirectory
from pie_mlx.engine.settings import DiskCacheSettings

STORE_BYTES = 12 << 20
NEIGHBOUR = """
import asyncio, sys
from pie_mlx import Engine
from pie_mlx.engine.settings import DiskCacheSettings

async def main(program, root, size):
    async with Engine("pie-tiny", total_pages=24, disk_cache=DiskCacheSettings(root, int(size), 1 << 40)) as engine:
        number = 0
        while True:
            number += 1
            await engine.run(program, {"number": number})

asyncio.run(main(*sys.argv[1:]))
"""


class Store:
    """A disk cache in use, and an engine in another process that uses it too."""

    def __init__(self, root: Path, program: Path) -> None:
        self.root, self._program = root, program
        self._neighbour: asyncio.subprocess.Process | None = None

    @property
    def settings(self) -> DiskCacheSettings:
        return DiskCacheSettings(str(self.root), STORE_BYTES, 1 << 40)

    async def restart_neighbour(self) -> None:
        """Kill the other engine, whatever it does, and start one."""
        await self.kill_neighbour()
        arguments = (str(self._program), str(self.root), str(STORE_BYTES))
        quiet = asyncio.subprocess.DEVNULL
        self._neighbour = await asyncio.create_subprocess_exec(
            sys.executable, "-c", NEIGHBOUR, *arguments, stdout=quiet, stderr=quiet
        )

    async def kill_neighbour(self) -> None:
        if self._neighbour is not None:
            with contextlib.suppress(ProcessLookupError):
                self._neighbour.kill()
            await self._neighbour.wait()
            self._neighbour = None

    async def remove(self) -> None:
        await asyncio.to_thread(shutil.rmtree, self.root, ignore_errors=True)

    def faults(self) -> dict[str, float]:
        """Files that are half-written once an engine has started, or damaged, and bytes beyond the bound."""
        later = time.time() + 2 * ABANDONED_SECONDS
        directory = CacheDirectory(self.root, max_bytes=STORE_BYTES, day_bytes=1 << 40, clock=lambda: later)
        directory.open()
        files = directory.files()
        beyond = max(0, sum(file.size_bytes for file in files) - STORE_BYTES)
        unfinished = [path for path in self.root.rglob(".*") if path.name != ".lock"]
        damaged = [file for file in files if not is_whole(file.path)]
        found = {"unfinished files": len(unfinished), "damaged files": len(damaged), "bytes too many": beyond}
        return {what: count for what, count in found.items() if count}


def is_whole(path: Path) -> bool:
    """Whether every record of a batch file is what was stored."""
    header, content = read_header(path), path.read_bytes()
    if header is None:
        return False
    for key, place in header.records.items():
        start = place.offset + 4
        tokens = content[start : start + int.from_bytes(content[place.offset : start], "little")]
        wanted = Wanted(key, tokens, place)
        if read_records(path, header.owner, [wanted], [memoryview(bytearray(wanted.content_bytes))]) != 1:
            return False
    return True
