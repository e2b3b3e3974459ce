"""`pie:instruct/chat`."""

from typing import Any

from inferlet import chat as sdk
from inferlet._context.turn_tokens import write_turn
from pie_mlx.calls import ChatState, RenderTurn, Turn
from pie_mlx.wasm.interfaces.model import Model
from pie_mlx.wasm.offers import Interface


class Decoder:
    """The visible text of a reply. Nothing to report is an empty delta."""

    def __init__(self, decoder: sdk.Decoder) -> None:
        self._decoder = decoder

    def feed(self, tokens: list[int]) -> tuple[str, Any]:
        match self._decoder.feed(tokens):
            case sdk.Delta(text=text):
                return "delta", text
            case sdk.Interrupt(token=token):
                return "interrupt", token
            case sdk.Done(text=text):
                return "done", text
            case sdk.Idle():
                return "delta", ""

    def reset(self) -> None:
        self._decoder.reset()


def system(model: Model, message: str) -> list[int]:
    return sdk.system(model.sdk, message)


def first_user(model: Model, message: str) -> list[int]:
    return write_turn(model.sdk, Turn("user", message), ChatState())


def user(model: Model, message: str) -> list[int]:
    return sdk.user(model.sdk, message)


def system_user(model: Model, instructions: str, message: str) -> list[int]:
    """Both at once, because some templates write the instructions into the first message."""
    begun = model.sdk.host.call(RenderTurn(model.sdk.name, Turn("system", instructions), template=model.sdk.template))
    return begun.tokens + write_turn(model.sdk, Turn("user", message), begun.state)


def assistant(model: Model, message: str) -> list[int]:
    return sdk.assistant(model.sdk, message)


def cue(model: Model) -> list[int]:
    return sdk.cue(model.sdk)


def seal(model: Model) -> list[int]:
    return sdk.seal(model.sdk)


def stop_tokens(model: Model) -> list[int]:
    return sdk.stop_tokens(model.sdk)


def create_decoder(model: Model) -> Decoder:
    return Decoder(sdk.Decoder(model.sdk))


INTERFACES = (
    Interface(
        "pie:instruct/chat",
        (system, first_user, user, system_user, assistant, cue, seal, stop_tokens, create_decoder),
        (Decoder,),
    ),
)
