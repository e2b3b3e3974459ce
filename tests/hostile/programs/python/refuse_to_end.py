"""A program that will not end is ended, with all that it started."""

import asyncio
import os
import signal
import threading

from inferlet import session


def stubborn():
    while True:
        try:
            threading.Event().wait()
        except BaseException:
            pass


async def main(input):
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    threading.Thread(target=stubborn).start()
    session.send(str(os.getpid()))
    while True:
        try:
            await asyncio.Event().wait()
        except BaseException:
            pass
