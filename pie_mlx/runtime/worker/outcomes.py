"""What becomes of a program in a worker, in words."""

import signal

from pie_mlx.errors import InvalidArgumentError, LaunchError, PieError, ProtocolError
from pie_mlx.runtime.execution.outcome import VALUE_LIMIT_BYTES, Failed, Outcome, Returned
from pie_mlx.runtime.worker.frames.messages import Ended


def outcome_of(ended: Ended) -> Outcome:
    """The outcome that a worker reported."""
    if len(ended.value) > VALUE_LIMIT_BYTES:
        return Failed(ProtocolError(f"worker: a return value of {len(ended.value)} characters"))
    if ended.error is None:
        return Returned(ended.value, ended.format)
    return Failed(ended.error.exception(), ended.error.kind)


def launch_error(error: Exception) -> PieError:
    """Why a worker could not be started."""
    if isinstance(error, ProtocolError | InvalidArgumentError):
        return LaunchError(f"worker: {error.message}", hint=error.hint)
    return error if isinstance(error, PieError) else LaunchError(f"worker: {type(error).__name__}: {error}")


def signal_name(number: int) -> str:
    """`SIGKILL` for 9."""
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
