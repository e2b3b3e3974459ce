"""`pie:core/adapter`. Paths are those of the component: below `/scratch`."""

from inferlet import adapter as sdk
from pie_mlx.errors import PieError, ProcessError
from pie_mlx.wasm.interfaces.model import Model
from pie_mlx.wasm.offers import Interface


class Adapter:
    """A LoRA adapter."""

    def __init__(self, adapter: sdk.Adapter) -> None:
        self.sdk = adapter

    @classmethod
    def create(cls, model: Model, name: str) -> "Adapter":
        return cls(sdk.Adapter.create(model.sdk, name))

    @classmethod
    def open(cls, model: Model, name: str) -> "Adapter | None":
        found = sdk.Adapter.open(model.sdk, name)
        return None if found is None else cls(found)

    def destroy(self) -> None:
        self.sdk.destroy()

    def fork(self, name: str) -> "Adapter":
        """Its errors end the component: the WIT has no way to tell it."""
        return Adapter(self.sdk.fork(name))

    def load(self, path: str) -> None:
        try:
            self.sdk.load(path)
        except OSError as error:
            raise _unreadable(path, error) from error

    def save(self, path: str) -> None:
        try:
            self.sdk.save(path)
        except OSError as error:
            raise _unreadable(path, error) from error


def _unreadable(path: str, error: OSError) -> PieError:
    return ProcessError(f"adapter: {path}: {error.strerror}", hint="name a folder below /scratch")


INTERFACES = (Interface("pie:core/adapter", (), (Adapter,)),)
