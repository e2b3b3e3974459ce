"""LoRA adapters: overlays on the model's weights, chosen pass by pass."""

from os import PathLike
from typing import Self

from inferlet._calls import adapter_files
from inferlet._calls.checks import checked_text, integer
from inferlet.model import Model, checked_model
from pie_mlx.calls import (
    LARGEST_SEED,
    SMALLEST_SEED,
    AdapterState,
    CreateAdapter,
    DestroyAdapter,
    ForkAdapter,
    OpenAdapter,
)
from pie_mlx.errors import AdapterNotFoundError, InvalidArgumentError, InvalidTypeError


class Adapter:
    """An adapter of this user on a model. It lives in the engine until it is destroyed, longer than this program.

    Leaving `with` closes this handle and keeps the adapter. Using a destroyed adapter raises AdapterNotFoundError.
    """

    def __init__(self, model: Model, state: AdapterState) -> None:
        """Use `create`, `open` or `fork`."""
        self._model, self._state = model, state
        self._closed = False

    @classmethod
    def create(cls, model: Model, name: str) -> "Adapter":
        """An adapter that changes nothing until it is loaded. Raises AdapterExistsError for a name that is taken,
        AdapterError when this user has `max_adapters`, InvalidArgumentError for an empty or overlong name."""
        host = checked_model(model).host
        return cls(model, host.call(CreateAdapter(model.name, checked_text(name, "adapter name"))))

    @classmethod
    def open(cls, model: Model, name: str) -> "Adapter | None":
        """The adapter of that name; None when there is none."""
        state = checked_model(model).host.call(OpenAdapter(model.name, checked_text(name, "adapter name")))
        return None if state is None else cls(model, state)

    def fork(self, new_name: str) -> "Adapter":
        """An independent copy of weights and evolution state. Raises AdapterExistsError."""
        state = self._model.host.call(ForkAdapter(self.id, checked_text(new_name, "adapter name")))
        return Adapter(self._model, state)

    def load(self, path: "str | PathLike[str]") -> None:
        """Load the weights of a folder as PEFT or mlx-lm writes it: adapter_config.json and a safetensors file.

        Passes in flight finish with the weights they began with. When it raises, nothing has changed: OSError,
        AdapterFormatError for a damaged or unsupported file, AdapterShapeError for the weights of another model.
        """
        config, weights = adapter_files.read_folder(path)
        self.learn(adapter_files.send(self._model.host, self.id, config, weights))

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the weights to a folder, as mlx-lm reads it; the state of an evolution is not written. Raises
        OSError."""
        adapter_files.write_folder(path, *adapter_files.fetch(self._model.host, self.id))

    def destroy(self) -> None:
        """Free the name and the weights."""
        self._model.host.call(DestroyAdapter(self.id))

    @property
    def name(self) -> str:
        """Its name."""
        return self._state.name

    @property
    def model(self) -> Model:
        """The model it belongs to."""
        return self._model

    @property
    def id(self) -> int:
        """The engine's number for it. Raises AdapterNotFoundError once the handle is closed."""
        if self._closed:
            raise AdapterNotFoundError(f"adapter {self.name!r}: this handle is closed", hint="open it again")
        return self._state.adapter

    @property
    def size_bytes(self) -> int:
        """Bytes of its weights when this handle last changed them."""
        return self._state.size_bytes

    def learn(self, state: AdapterState) -> None:
        """Update the handle with the state that the engine reports."""
        self._state = state

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._closed = True

    def __repr__(self) -> str:
        return f"Adapter({self.name!r})"


def checked_adapter(adapter: object) -> Adapter | None:
    """The adapter itself. Raises InvalidTypeError for anything else."""
    if adapter is not None and not isinstance(adapter, Adapter):
        raise InvalidTypeError(f"adapter: got {type(adapter).__name__}", hint="use Adapter.create() or Adapter.open()")
    return adapter


def checked_seed(seed: int | None) -> int:
    """A noise seed, 0 for None. Raises InvalidTypeError, and InvalidArgumentError for more than 64 bits."""
    if seed is None:
        return 0
    number = integer(seed, "zo_seed")
    if not SMALLEST_SEED <= number <= LARGEST_SEED:
        raise InvalidArgumentError(f"zo_seed: {number} has more than 64 bits", hint="use a signed 64-bit integer")
    return number
