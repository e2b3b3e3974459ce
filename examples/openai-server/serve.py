"""Puts the program beside it on a port of the engine that runs: start one with `pie serve`."""

import asyncio
import os
import sys
from pathlib import Path

from pie_mlx.client import connect, find_engine

HERE = Path(__file__).parent
HOME = Path(os.environ.get("PIE_HOME", "~/.pie")).expanduser()


async def main(port: int) -> None:
    engine = find_engine(None, os.environ, HOME)
    if engine is None:
        sys.exit("no engine is running: start one with 'pie serve'")
    async with await connect(engine.url, unix_socket=engine.unix_socket) as client:
        await client.install((HERE / "main.py").read_bytes(), (HERE / "Pie.toml").read_text(), force=True)
        await client.launch_daemon("openai-server", port)
    print(f"http://127.0.0.1:{port}/v1")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
