"""Checks of the kernels on this machine, and their predicted and measured bandwidth."""
