"""Texts of a program that ended are still encoded."""

import asyncio

from inferlet import Model, runtime


async def main(input):
    tokenizer = Model.load(runtime.models()[0]).tokenizer()
    for _ in range(8):
        asyncio.get_running_loop().run_in_executor(None, tokenizer.encode, "word " * 1_500_000)
    await asyncio.sleep(0.2)
    raise SystemExit
