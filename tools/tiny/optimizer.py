"""Muon for the matrices of the layers (Jordan et al. 2024), AdamW for embeddings and norms."""

import torch
from torch import Tensor, nn

from tools.tiny.model import PRODUCTS

# Quintic Newton-Schulz coefficients of the Muon write-up: fast, ends with singular values near 1, not at 1.
_A, _B, _C = 3.4445, -4.7750, 2.0315


def orthogonalise(gradient: Tensor, steps: int = 5) -> Tensor:
    """The nearest (semi-)orthogonal matrix of a gradient, approximately. Shape [rows, columns]."""
    x = (gradient / (gradient.norm() + 1e-7)).to(PRODUCTS)
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(steps):
        gram = x @ x.T
        x = _A * x + (_B * gram + _C * gram @ gram) @ x
    return (x.T if tall else x).float()


class Muon(torch.optim.Optimizer):
    """Momentum whose steps are orthogonalised; learning rate in units of RMS 0.2 per entry."""

    def __init__(self, parameters: list[nn.Parameter], lr: float, momentum: float = 0.95, decay: float = 0.01) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum, "decay": decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                average = state.setdefault("momentum", torch.zeros_like(parameter))
                average.lerp_(parameter.grad, 1 - group["momentum"])
                direction = orthogonalise(parameter.grad.lerp(average, group["momentum"]))
                scale = 0.2 * max(parameter.shape) ** 0.5
                parameter.mul_(1 - group["lr"] * group["decay"])
                parameter.add_(direction, alpha=-group["lr"] * scale)


def make_optimizers(model: nn.Module, lr: float) -> list[torch.optim.Optimizer]:
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    others = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    return [Muon(matrices, lr), torch.optim.AdamW(others, lr, betas=(0.9, 0.97), weight_decay=0.0)]
