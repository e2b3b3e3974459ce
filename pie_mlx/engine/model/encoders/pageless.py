"""An encoder where a network over pages is expected: it has none, and makes no text."""

from typing import NoReturn

from pie_mlx.engine.model.encoders.encoder import Encoder
from pie_mlx.engine.model.networks.null_network import NullNetwork
from pie_mlx.engine.model.step import StepInput
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal import PageMemory


class EncoderNetwork(NullNetwork):
    """Implements Network without layers; the engine makes no context on it."""

    tier = "encoder"
    hidden_size = 0

    def __init__(self, encoder: Encoder, vocabulary_size: int) -> None:
        super().__init__(vocabulary_size)
        self.encoder = encoder

    def forward(self, step: StepInput, memory: PageMemory) -> NoReturn:
        """Raises InvalidArgumentError."""
        raise InvalidArgumentError("forward: an encoder makes no text", hint="use model.embed or model.rerank")
