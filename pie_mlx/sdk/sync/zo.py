"""Zero-order optimisation, with noise set on a `ForwardPass`."""

from pie_mlx.sdk.sync.forward_pass import ForwardPass
from pie_mlx.sdk.zo import initialize, update

__all__ = ["adapter_seed", "initialize", "update"]


def adapter_seed(forward: ForwardPass, seed: int) -> None:
    """Compute the pass with the noise of `seed` on its adapter."""
    forward.zo_seed(seed)
