"""Programs launched by programs: who launched whom, how many there may be, and what ends with what."""

from pie_mlx.runtime.children.launch_tree import LaunchLimits
from pie_mlx.runtime.children.process_tree import ChildRequest, LaunchedProcess, ProcessTree, StartChild
from pie_mlx.runtime.children.program_lookup import ResolveName

__all__ = ["ChildRequest", "LaunchLimits", "LaunchedProcess", "ProcessTree", "ResolveName", "StartChild"]
