"""`pie:core/model`."""

from weakref import WeakKeyDictionary

from inferlet import model as sdk
from inferlet._calls.host import HostLink, current_host
from pie_mlx.calls import DescribeRuntime
from pie_mlx.wasm.offers import Interface

_latest: WeakKeyDictionary[HostLink, str] = WeakKeyDictionary()
"""The model that each program has loaded last."""


class Tokenizer:
    """The tokenizer of a model."""

    def __init__(self, tokenizer: sdk.Tokenizer) -> None:
        self.sdk = tokenizer

    def encode(self, text: str) -> list[int]:
        return self.sdk.encode(text)

    def decode(self, tokens: list[int]) -> str:
        return self.sdk.decode(tokens)

    def vocabs(self) -> tuple[list[int], list[bytes]]:
        return self.sdk.vocabs()

    def split_regex(self) -> str:
        return self.sdk.split_regex()

    def special_tokens(self) -> tuple[list[int], list[bytes]]:
        return self.sdk.special_tokens()


class Model:
    """A loaded model."""

    def __init__(self, model: sdk.Model) -> None:
        self.sdk = model

    @classmethod
    def load(cls, name: str) -> "Model":
        model = sdk.Model.load(name)
        if model.info.generates:
            _latest[model.host] = model.name
        return cls(model)

    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.sdk.tokenizer())

    def default_system_speculation(self) -> bool:
        return False


def known_model() -> Model:
    """A model for what names none: the one that the program has loaded last, so that no other comes into memory."""
    host = current_host()
    return Model.load(_latest.get(host) or host.call(DescribeRuntime()).models[0])


INTERFACES = (Interface("pie:core/model", (), (Model, Tokenizer)),)
