"""`pie:core/model`."""

from inferlet import model as sdk
from pie_mlx.wasm.offers import Interface


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
        return cls(sdk.Model.load(name))

    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.sdk.tokenizer())

    def default_system_speculation(self) -> bool:
        return False


INTERFACES = (Interface("pie:core/model", (), (Model, Tokenizer)),)
