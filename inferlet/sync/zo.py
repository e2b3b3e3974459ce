"""Zero-order optimisation, with noise set on a `ForwardPass`."""

from inferlet.sync.forward_pass import ForwardPass
from inferlet.zo import initialize, update

__all__ = ["adapter_seed", "initialize", "update"]


def adapter_seed(forward: ForwardPass, seed: int) -> None:
    """Compute the pass with the noise of `seed` on its adapter."""
    forward.zo_seed(seed)
