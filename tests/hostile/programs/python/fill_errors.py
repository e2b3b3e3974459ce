"""What is printed on standard error stops no engine whose own standard error is not read."""

import sys


async def main(input):
    for _ in range(input["lines"]):
        print("x" * 999, file=sys.stderr)
    return "printed"
