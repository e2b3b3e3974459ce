"""Processes of an engine shared by clients: their owners, attached clients, queue and kept events."""

from pie_mlx.runtime.registry.kept_events import KeptEvents, KeptLimits
from pie_mlx.runtime.registry.launch import Launch, User, checked_id, checked_inputs
from pie_mlx.runtime.registry.limits import RegistryLimits
from pie_mlx.runtime.registry.output_log import LogHead, LogLine, OutputLogs
from pie_mlx.runtime.registry.record import ProcessRecord, Sink
from pie_mlx.runtime.registry.registry import STOPPED, Registry
from pie_mlx.runtime.registry.rows import ProcessResult, ProcessRow, result_of, row_of

__all__ = [
    "STOPPED",
    "KeptEvents",
    "KeptLimits",
    "Launch",
    "LogHead",
    "LogLine",
    "OutputLogs",
    "ProcessRecord",
    "ProcessResult",
    "ProcessRow",
    "Registry",
    "RegistryLimits",
    "Sink",
    "User",
    "checked_id",
    "checked_inputs",
    "result_of",
    "row_of",
]
