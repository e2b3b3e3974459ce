"""`pie:instruct/reasoning`."""

from typing import Any

from inferlet import reasoning as sdk
from pie_mlx.wasm.interfaces.model import Model
from pie_mlx.wasm.offers import Interface


class Decoder:
    """The reasoning of a reply. Nothing to report is an empty delta."""

    def __init__(self, decoder: sdk.Decoder) -> None:
        self._decoder = decoder

    def feed(self, tokens: list[int]) -> tuple[str, Any]:
        match self._decoder.feed(tokens):
            case sdk.Start():
                return "start", None
            case sdk.Delta(text=text):
                return "delta", text
            case sdk.End(text=text):
                return "complete", text
            case sdk.Idle():
                return "delta", ""

    def reset(self) -> None:
        self._decoder.reset()


def create_decoder(model: Model) -> Decoder:
    return Decoder(sdk.Decoder(model.sdk))


INTERFACES = (Interface("pie:instruct/reasoning", (create_decoder,), (Decoder,)),)
