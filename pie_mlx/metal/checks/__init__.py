"""Proof of the kernels on the machine at hand, and their predicted and measured bandwidth."""
