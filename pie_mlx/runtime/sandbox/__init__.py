"""Walls around a process: which files it reads and writes, no network, no other processes.

Linux: Landlock for files, a seccomp filter for the rest. macOS: a Seatbelt profile. Nothing is assumed to hold because
a call succeeded: `probe` tries the forbidden things.
"""

from pie_mlx.runtime.sandbox.confinement import Confinement, Policy, confine, prepare

__all__ = ["Confinement", "Policy", "confine", "prepare"]
