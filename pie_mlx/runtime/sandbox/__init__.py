"""Walls around a process: which files it reads and writes, no network, no other processes.

Linux: Landlock for files, a seccomp filter for the rest. macOS: a Seatbelt profile. Nothing is assumed to hold because
a call succeeded: `probe` tries the forbidden things.
"""

from pie_mlx.runtime.sandbox.confinement import confine, prepare
from pie_mlx.runtime.sandbox.policy import Confinement, Policy

__all__ = ["Confinement", "Policy", "confine", "prepare"]
