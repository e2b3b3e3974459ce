"""`pie:instruct/tool-use`."""

from typing import Any

from inferlet import tools as sdk
from pie_mlx.wasm.interfaces.inference import Grammar, Matcher
from pie_mlx.wasm.interfaces.model import Model
from pie_mlx.wasm.offers import Interface

_ANY_TEXT = "(?s:.*)"


class Decoder:
    """The tool calls of a reply. Nothing to report is a start, as in Pie."""

    def __init__(self, decoder: sdk.Decoder) -> None:
        self._decoder = decoder

    def feed(self, tokens: list[int]) -> tuple[str, Any]:
        match self._decoder.feed(tokens):
            case sdk.Call(name=name, args=args):
                return "call", (name, args)
            case sdk.Start() | sdk.Idle():
                return "start", None

    def reset(self) -> None:
        self._decoder.reset()


def equip(model: Model, tools: list[str]) -> list[int]:
    return sdk.equip_prefix(model.sdk, tools)


def answer(model: Model, name: str, value: str) -> list[int]:
    return sdk.answer_prefix(model.sdk, name, value)


def create_decoder(model: Model) -> Decoder:
    return Decoder(sdk.Decoder(model.sdk))


def format(model: Model, tools: list[str]) -> Grammar | None:
    found = sdk.native_grammar(model.sdk, tools)
    return None if found is None else Grammar(found)


def create_matcher(model: Model, tools: list[str]) -> Matcher:
    """Of any text for a model without an enforceable format: the WIT has no other answer."""
    grammar = format(model, tools) or Grammar.from_regex(_ANY_TEXT)
    return Matcher(grammar, model.tokenizer())


INTERFACES = (Interface("pie:instruct/tool-use", (equip, answer, create_decoder, format, create_matcher), (Decoder,)),)
