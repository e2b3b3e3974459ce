"""Confines a process: chosen files only, no network, no other processes; and gives it `/scratch`.

Linux: Landlock for files, a seccomp filter for the rest. macOS: a Seatbelt profile. A successful call proves nothing:
`probe` tries the forbidden actions.
"""

from pie_mlx.runtime.sandbox.confinement import confine, prepare
from pie_mlx.runtime.sandbox.policy import Confinement, Policy

__all__ = ["Confinement", "Policy", "confine", "prepare"]
