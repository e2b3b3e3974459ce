"""However a program ends, it is told why, and nothing else ends with it."""

import asyncio
import ctypes
import gc
import os
import resource
import signal
import sys
import threading


def deeper():
    deeper()


def raising(error):
    raise error


def without_files():
    os.closerange(0, 256)


def in_a_thread():
    thread = threading.Thread(target=ctypes.string_at, args=(0,))
    thread.start()
    thread.join()


def odd_error():
    class Odd(BaseException):
        def __str__(self):
            raise RuntimeError("no text")

    raise Odd


def finalizer():
    class Late:
        def __del__(self):
            os._exit(5)

    Late()
    gc.collect()


WAYS = {
    "segmentation fault": lambda: ctypes.string_at(0),
    "fault in a thread": in_a_thread,
    "abort": os.abort,
    "exit": lambda: os._exit(3),
    "sys.exit": lambda: sys.exit(4),
    "exit with text": lambda: sys.exit("\x1b[2J\ud800"),
    "interrupt": lambda: raising(KeyboardInterrupt()),
    "generator exit": lambda: raising(GeneratorExit()),
    "cancelled": lambda: raising(asyncio.CancelledError()),
    "stack": deeper,
    "C stack": lambda: sys.setrecursionlimit(1 << 30) or deeper(),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "pipe": lambda: os.kill(os.getpid(), signal.SIGPIPE),
    "alarm": lambda: (signal.setitimer(signal.ITIMER_REAL, 0.01), signal.pause()),
    "processor time": lambda: resource.setrlimit(resource.RLIMIT_CPU, (0, 0)) or sum(range(1 << 24)),
    "no descriptors": without_files,
    "odd error": odd_error,
    "finalizer": finalizer,
}


async def main(input):
    WAYS[input["way"]]()
    return "survived"
