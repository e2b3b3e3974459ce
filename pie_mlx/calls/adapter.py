"""LoRA adapters: overlays on a model's weights, by user and name. Their bytes travel in parts."""

from pie_mlx.calls.base import Call, Record

SMALLEST_SEED, LARGEST_SEED = -(1 << 63), (1 << 63) - 1
"""Seeds of noise; 0 is none (Z2)."""


class AdapterState(Record, frozen=True):
    """An adapter. Every change of its weights raises `version` (A4); `size_bytes` is their size in memory."""

    adapter: int
    name: str
    version: int = 0
    size_bytes: int = 0


class CreateAdapter(Call[AdapterState], frozen=True):
    """An adapter that changes nothing until it is loaded (A1). Raises AdapterExistsError."""

    model: str
    name: str


class OpenAdapter(Call[AdapterState | None], frozen=True):
    """The user's adapter of that name; None if there is none."""

    model: str
    name: str


class ForkAdapter(Call[AdapterState], frozen=True):
    """An independent copy of weights and evolution state. Raises AdapterExistsError."""

    adapter: int
    name: str


class DestroyAdapter(Call[None], frozen=True):
    """Free name and weights (A1). Raises AdapterNotFoundError."""

    adapter: int


class LoadAdapter(Call[AdapterState | None], frozen=True):
    """One part of an adapter's weights: `data` at `offset` of the `size_bytes` of a safetensors file.

    Parts arrive in order; offset 0 starts again. The last part puts the weights into use, and its reply is the
    adapter; the other replies are None. `config` is the text of adapter_config.json. Raises AdapterFormatError and
    AdapterShapeError.
    """

    adapter: int
    config: str
    size_bytes: int
    offset: int
    data: bytes


class AdapterPart(Record, frozen=True):
    """A part of a saved adapter: its adapter_config.json, and bytes of its safetensors file of `size_bytes`."""

    config: str
    size_bytes: int
    data: bytes


class ReadAdapter(Call[AdapterPart], frozen=True):
    """The part at `offset`; offset 0 fixes the weights for the parts that follow."""

    adapter: int
    offset: int = 0


class InitializeEvolution(Call[AdapterState], frozen=True):
    """Fresh weights and evolution state for the projections named by `targets` (Z1). Raises InvalidArgumentError."""

    adapter: int
    rank: int
    alpha: float
    population_size: int
    mu_fraction: float
    initial_sigma: float
    targets: list[str]


class UpdateEvolution(Call[AdapterState], frozen=True):
    """One step of the evolution: the score of each seed, higher is better (Z4). Raises InvalidArgumentError."""

    adapter: int
    scores: list[float]
    seeds: list[int]
    max_sigma: float
