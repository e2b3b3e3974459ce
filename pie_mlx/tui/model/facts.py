"""Facts that no event carries, requested from a server at intervals. Sources without a server have none."""

from collections.abc import Mapping

import msgspec

from pie_mlx.events import PageUsage
from pie_mlx.gpu_meter.gpu_reading import NOT_READ, GpuReading


class Connection(msgspec.Struct, frozen=True):
    """A client of the server, its attached processes, and the names of the MCP servers that it offers them."""

    id: str
    username: str
    address: str = ""
    attached: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a program, from its manifest."""

    name: str
    type: str = "string"
    default: object = None
    required: bool = False
    description: str = ""


class InstalledProgram(msgspec.Struct, frozen=True):
    """A program that can be launched by name, unless it answers requests: then it is served on a port."""

    name: str
    version: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    answers_requests: bool = False


class ConfiguredServer(msgspec.Struct, frozen=True):
    """An MCP server of the engine's configuration."""

    name: str
    transport: str = ""


class Machine(msgspec.Struct, frozen=True):
    """The engine's machine. Bytes are of memory: of the model's weights, its pool, and arrays beside them; of the whole
    `engine` and of its `programs`. `load` is how many processes wanted one of the `processors`, over a minute."""

    memory_bytes: int = 0
    available_bytes: int = 0
    pressure: str = ""
    swap_used_bytes: int = 0
    swap_bytes: int = 0
    weights_bytes: int = 0
    pool_bytes: int = 0
    other_bytes: int = 0
    engine_bytes: int = 0
    programs_bytes: int = 0
    processors: int = 0
    load: float = 0.0
    gpu: GpuReading = NOT_READ


class ModelRow(msgspec.Struct, frozen=True):
    """A model of the engine; `progress` is that of its loading, `pages` and `price` are those of one in memory.

    `draft_model` guesses for it. Unused, it leaves in `expires_in_seconds`; `stays` is why it does not.
    """

    name: str
    state: str
    size_bytes: int = 0
    processes: int = 0
    progress: float | None = None
    pages: PageUsage | None = None
    price: float | None = None
    draft_model: str = ""
    stays: str = ""
    expires_in_seconds: float | None = None
    tokens_per_second: float = 0.0


class Facts(msgspec.Struct, frozen=True):
    """None if the source cannot know. `waits` says what running programs wait for, by their ids."""

    connections: tuple[Connection, ...] | None = None
    programs: tuple[InstalledProgram, ...] | None = None
    waits: Mapping[str, str] = {}
    mcp_servers: tuple[ConfiguredServer, ...] = ()
    machine: Machine | None = None
    models: tuple[ModelRow, ...] = ()


NO_FACTS = Facts()
