"""Programs launched by programs: who launched whom, how many there may be, and what ends with what."""

from pie_mlx.runtime.children.family import Member, StartChild
from pie_mlx.runtime.children.finding import ResolveName
from pie_mlx.runtime.children.household import Household
from pie_mlx.runtime.children.limits import LaunchLimits
from pie_mlx.runtime.children.request import ChildRequest

__all__ = ["ChildRequest", "Household", "LaunchLimits", "Member", "ResolveName", "StartChild"]
