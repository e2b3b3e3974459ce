"""A training as several processes, one thread each: on a CPU a third faster than one process with as many threads.

Every rank computes the gradients of its own samples; they are averaged before each step, so all hold the same weights.
"""

import os
import signal
import socket
from collections.abc import Callable, Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn


class Ranks:
    """The processes of one training, seen from the one with number `own`."""

    def __init__(self, own: int, count: int) -> None:
        self.own, self.count = own, count
        if count > 1:
            dist.init_process_group("gloo", rank=own, world_size=count)

    def share_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Averages the gradients of all ranks in place."""
        if self.count == 1:
            return
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        flat /= self.count
        for gradient, part in zip(gradients, flat.split([gradient.numel() for gradient in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def largest(self, *values: float) -> list[float]:
        """The largest of each value over all ranks: what they must agree on, such as the time and a wish to stop."""
        together = torch.tensor(values, dtype=torch.float64)
        if self.count > 1:
            dist.all_reduce(together, dist.ReduceOp.MAX)
        return together.tolist()

    def sum(self, values: Tensor) -> Tensor:
        """The sum over all ranks, in place."""
        if self.count > 1:
            dist.all_reduce(values)
        return values


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def _enter(own: int, count: int, work: Callable[[Ranks], None]) -> None:
    torch.set_num_threads(1)
    work(Ranks(own, count))


def run_ranks(count: int, work: Callable[[Ranks], None]) -> None:
    """Runs `work` in `count` processes; it must be picklable. Ends when all have, or with the error of one.

    SIGTERM is passed on to them.
    """
    if count == 1:
        _enter(0, 1, work)
        return
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(_free_port()))
    context = torch.multiprocessing.spawn(_enter, (count, work), nprocs=count, join=False)
    signal.signal(signal.SIGTERM, lambda *_: [process.terminate() for process in context.processes])
    while not context.join():
        pass
