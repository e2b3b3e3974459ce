"""Programs launched by programs: the tree of processes, its limits, and what ends with a process."""

from pie_mlx.runtime.children.failures import FailureReport
from pie_mlx.runtime.children.launch_tree import LaunchLimits
from pie_mlx.runtime.children.process_tree import ChildRequest, LaunchedProcess, ProcessTree, StartChild
from pie_mlx.runtime.children.program_lookup import ResolveName

__all__ = [
    "ChildRequest",
    "FailureReport",
    "LaunchLimits",
    "LaunchedProcess",
    "ProcessTree",
    "ResolveName",
    "StartChild",
]
