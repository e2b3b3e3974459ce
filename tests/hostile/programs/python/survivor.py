"""No program outlives its engine."""

import ctypes
import signal


async def main(input):
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    open("stays", "w").close()
    while True:
        pass
