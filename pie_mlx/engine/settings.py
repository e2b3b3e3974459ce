"""Settings that an engine starts with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class DiskCacheSettings:
    """Where pages are kept, how many bytes at most, and how many are written on one day. `shared`: users find the pages
    of each other."""

    directory: str
    max_bytes: int = 20 << 30
    day_bytes: int = 50 << 30
    shared: bool = False


@dataclass(frozen=True, slots=True)
class KvFormat:
    """How pages hold keys and values: `auto`, in the dtype of the activations, or quantised to `int8` or `int4`.

    `group_size` elements of a head share a scale, 64 or 32; None takes 64 where it divides the heads. `full_layers` are
    not quantised: numbers among the layers with keys and values, negative ones from the end.
    """

    dtype: str = "auto"
    group_size: int | None = None
    full_layers: tuple[int, ...] = ()


UNCHANGED = KvFormat()


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """One model on one pool. An engine may have several.

    `model` is a directory, a repo id or `pie-tiny`; `name` is the name that programs use. `revision` is the git
    revision of a repo id. `dummy` replaces the weights by pseudo-random logits, a `script` replaces them by what it
    returns for a prompt: a text, or texts with their probabilities. `draft_model`, named like `model`, guesses for
    programs that ask the engine to speculate, and shares its weights with the engine's model of that name, if there is
    another one; with `draft_head`, so does the head that the model was trained with.

    `total_pages` None sizes the pool from the available memory. MLX keeps at most `buffer_cache_bytes` of freed
    buffers. `watches_memory`: the engine uses less memory while the system is short of it. `wires_memory`: weights and
    pool are never swapped, where that is safe.

    `runs_ahead`: the next token is computed before the program asks for it. `grammar_jumps`: tokens that a grammar
    leaves no choice about are appended without being drawn, several in a pass. `seed` None draws the engine's seed at
    start. Long prompts are divided so that decoding programs wait at most `decode_stall_seconds` for a batch. A
    call may wait `request_timeout_seconds` for the device while its context is resident. Admitted launches may claim
    `admission_oversubscription` times the pool.

    `kv_dtype`, `kv_group_size` and `kv_full_layers` are the `KvFormat` of the pages, also of those of the draft model.

    Without `spill_directory`, or with `spill_max_bytes` 0, lost pages are computed again. `snapshot_directory` keeps
    snapshots that outlive the engine, if `persist_snapshots` or a program says so. Without a `disk_cache` no KV
    outlives it.

    A model whose `load` is lazy is loaded when a program first wants it. It leaves memory once it was unused for
    `keep_alive_seconds`, and sooner where another model needs the memory; with None only the engine's end unloads it.
    """

    model: str = "pie-tiny"
    name: str | None = None
    dummy: bool = False
    dtype: str = "auto"
    kv_dtype: str = "auto"
    kv_group_size: int | None = None
    kv_full_layers: tuple[int, ...] = ()
    page_size: int = 16
    total_pages: int | None = None
    kv_memory_fraction: float = 0.8
    memory_headroom_bytes: int = 2048 << 20
    seed: int | None = None
    policy: str = "market"
    max_batch_tokens: int = 2048
    max_batch_contexts: int = 64
    prefill_chunk_tokens: int = 512
    decode_stall_seconds: float = 0.25
    aging_window_ticks: int = 64
    runs_ahead: bool = True
    grammar_jumps: bool = True
    default_endowment_pages: int = 64
    admission_oversubscription: float = 4.0
    default_token_limit: int | None = None
    allow_download: bool = False
    spill_directory: str | None = None
    spill_max_bytes: int = 4096 << 20
    snapshot_directory: str | None = None
    persist_snapshots: bool = False
    max_adapters: int = 16
    revision: str | None = None
    buffer_cache_bytes: int = 512 << 20
    watches_memory: bool = False
    wires_memory: bool = False
    request_timeout_seconds: float = 120.0
    draft_model: str | None = None
    draft_head: bool = True
    disk_cache: DiskCacheSettings | None = None
    load: Literal["eager", "lazy"] = "eager"
    keep_alive_seconds: float | None = None
    script: Callable[[str], str | Mapping[str, float]] | None = None

    @property
    def called(self) -> str:
        """The name that programs use."""
        return self.name or ("dummy" if self.dummy else "scripted" if self.script is not None else self.model)

    @property
    def kv_format(self) -> KvFormat:
        """How the pages hold keys and values."""
        return KvFormat(self.kv_dtype, self.kv_group_size, tuple(self.kv_full_layers))
