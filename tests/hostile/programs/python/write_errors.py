"""An engine waits for nobody who should read what programs write to standard error."""

import sys


async def main(input):
    for _ in range(input["lines"]):
        print("x" * 999, file=sys.stderr)
    return "written"
