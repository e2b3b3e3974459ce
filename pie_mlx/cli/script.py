"""The console script: ends without a traceback when it is interrupted before the command line is imported."""

import signal


def main() -> None:
    """`pie`, for the words of sys.argv."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else a shell has turned it off
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pie_mlx.cli.main import main as command_line

    command_line()
