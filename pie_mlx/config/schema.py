"""Every key of config.toml, with its type, default, rule and meaning."""

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

FIXED = {"fixed": True}
"""Marks a key whose default is the only supported value so far; any other is refused."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the file."""


class ServerConfig(Section, frozen=True):
    """`[server]`: where `pie serve` listens, and its limits."""

    host: Annotated[
        str, Meta(min_length=1, description="address to listen on; off loopback only with auth.enabled = true")
    ] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="0 picks a free port")] = 8080
    verbose: Annotated[bool, Meta(description="same as --debug")] = False
    max_concurrent_processes: (
        Annotated[
            int, Meta(gt=0, description="processes that run at once, the others wait; unset: as many as pages allow")
        ]
        | None
    ) = None
    max_connections: Annotated[int, Meta(ge=1, le=4096, description="open connections")] = 256
    allowed_origins: Annotated[
        list[str], Meta(description="web pages that may connect: exact scheme://host[:port], no *")
    ] = []
    allowed_hosts: Annotated[
        list[str], Meta(description="names besides localhost by which clients reach loopback: host.docker.internal")
    ] = []
    max_frame_mb: Annotated[int, Meta(ge=1, le=256, description="MiB; largest incoming frame")] = 16
    finished_grace_secs: Annotated[
        int, Meta(ge=0, description="seconds during which a finished process can be attached")
    ] = 300
    detached_buffer_events: Annotated[
        int, Meta(ge=0, le=1_000_000, description="events kept for a process without a client")
    ] = 4096
    detached_timeout_secs: (
        Annotated[int, Meta(gt=0, description="seconds until a detached process that waits for its client is ended")]
        | None
    ) = None


class AuthConfig(Section, frozen=True):
    """`[auth]`: authentication of clients."""

    enabled: Annotated[bool, Meta(description="require a key on TCP connections")] = False
    authorized_users: (
        Annotated[str, Meta(description="file with the public keys, mode 0600; unset: $PIE_HOME/authorized_users.toml")]
        | None
    ) = None
    challenge_timeout_secs: Annotated[int, Meta(ge=5, le=600, description="seconds to answer a challenge")] = 60
    max_failures: Annotated[int, Meta(ge=1, le=100, description="failed logins until a connection is closed")] = 5
    trusted_owners: Annotated[
        list[str], Meta(description="users whose programs all users may launch by their bare names")
    ] = []


class TelemetryConfig(Section, frozen=True):
    """`[telemetry]`: OpenTelemetry, to the endpoint given and nowhere else."""

    enabled: Annotated[bool, Meta(description="send traces; needs the extra pie-mlx[telemetry]")] = False
    endpoint: Annotated[str, Meta(pattern=r"^https?://", description="collector that takes OTLP over HTTP")] = (
        "http://localhost:4318"
    )
    service_name: Annotated[str, Meta(min_length=1, description="service name in reports")] = "pie"
    capture_content: Annotated[bool, Meta(description="send prompts and replies too, not only their figures")] = False


class RuntimeConfig(Section, frozen=True):
    """`[runtime]`: permissions and limits of programs."""

    isolation: Annotated[
        Literal["process", "inline"], Meta(description="inline: in the engine's own process, for tests and notebooks")
    ] = "process"
    sandbox: Annotated[
        Literal["required", "best-effort", "off"],
        Meta(description="required: no start without a sandbox; best-effort: a warning instead"),
    ] = "best-effort"
    allow_fs: Annotated[bool, Meta(description="programs have a directory /scratch")] = False
    fs_scratch_dir: (
        Annotated[
            str, Meta(pattern="^/", description="absolute path of the /scratch directories; unset: $PIE_HOME/scratch")
        ]
        | None
    ) = None
    scratch_max_mb: Annotated[int, Meta(gt=0, description="MiB per user and program; one file per 16 KiB")] = 1024
    allow_network: Annotated[bool, Meta(description="programs may reach network_allowed_hosts, over HTTP")] = False
    network_allowed_hosts: Annotated[
        list[str],
        Meta(
            description="host, *.domain, IP or CIDR, each with optional :port or :low-high; * alone: public addresses"
        ),
    ] = msgspec.field(default_factory=lambda: ["*"])
    max_upload_mb: Annotated[int, Meta(gt=0, description="MiB per upload")] = 256
    max_memory_mb: Annotated[int, Meta(ge=64, description="MiB per worker")] = 2048
    max_cpu_secs: Annotated[int, Meta(gt=0, description="seconds of processor time per process")] | None = None
    max_open_files: Annotated[int, Meta(ge=32, description="file descriptors per worker")] = 256
    watchdog_secs: Annotated[
        int, Meta(gt=0, description="seconds until a worker that neither calls nor yields is killed")
    ] = 30
    max_launch_depth: Annotated[int, Meta(ge=0, description="generations of children")] = 8
    max_children: Annotated[int, Meta(ge=0, description="processes in one tree")] = 64
    warm_workers: Annotated[int, Meta(ge=0, le=64, description="workers kept ready in advance")] = 2
    environment: Annotated[list[str], Meta(description="names of environment variables that programs may see")] = []
    mcp_timeout_secs: Annotated[int, Meta(gt=0, description="seconds that an MCP call may take")] = 120


class SchedulerConfig(Section, frozen=True):
    """`[model.scheduler]`: the market and the scheduler."""

    policy: Annotated[
        Literal["market", "fcfs", "priority"],
        Meta(description="who gets pages and rows first: by bid, by age, or by a fixed priority"),
    ] = "market"
    request_timeout_secs: Annotated[
        int,
        Meta(gt=0, description="seconds that a forward call may wait for the device while its context is resident"),
    ] = 120
    default_token_limit: Annotated[int, Meta(gt=0, description="token budget of a launch that names none")] | None = (
        None
    )
    default_endowment_pages: Annotated[
        int, Meta(gt=0, description="credits of a launch without a token budget, one per page")
    ] = 64
    admission_oversubscription_factor: Annotated[
        float, Meta(gt=0, description="how many times the pool launches may claim; further ones wait")
    ] = 4.0
    restore_pause_at_utilization: Annotated[
        float, Meta(gt=0, le=1, description="for compatibility, without effect: nothing pauses restores")
    ] = 0.85
    speculation_depth: Annotated[
        int, Meta(ge=0, le=64, description="steps of run-ahead: 0 is off, more than 1 counts as 1")
    ] = 1
    max_chunk_tokens: Annotated[int, Meta(gt=0, description="tokens; largest piece of a prompt per tick")] = 512
    grammar_jumps: Annotated[
        bool, Meta(description="tokens that a grammar leaves no choice about are appended without being drawn")
    ] = True
    decode_stall_ms: Annotated[
        int, Meta(gt=0, description="milliseconds; pieces of prompts are cut so that no decoding context waits longer")
    ] = 250


class EngineConfig(Section, frozen=True):
    """`[model.engine]`: device, memory and pages."""

    type: Annotated[Literal["mlx", "dummy"], Meta(description="dummy: random tokens, no weights")] = "mlx"
    device: Annotated[Literal["auto", "gpu", "cpu"], Meta(description="auto: the GPU if there is one", extra=FIXED)] = (
        "auto"
    )
    activation_dtype: Annotated[
        Literal["auto", "bfloat16", "float16", "float32"], Meta(description="auto: the checkpoint's own")
    ] = "auto"
    random_seed: Annotated[int, Meta(ge=0, description="seed of draws without their own")] = 42
    kv_page_size: Annotated[Literal[8, 16, 32], Meta(description="tokens per page")] = 16
    total_pages: Annotated[int, Meta(gt=0, description="pages of the pool; unset: by kv_memory_fraction")] | None = None
    kv_memory_fraction: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description="share of the memory that weights, the largest batch and headroom leave; unset: several models"
            " share 0.8",
        ),
    ] = 0.8
    memory_headroom_mb: Annotated[int, Meta(ge=0, description="MiB kept free")] = 2048
    buffer_cache_mb: Annotated[int, Meta(ge=0, description="MiB of freed buffers that MLX may keep")] = 512
    watch_memory: Annotated[bool, Meta(description="use less memory while the system is short of it")] = True
    wire_memory: Annotated[
        bool, Meta(description="keep weights and pages from being swapped, on macOS 15; see docs/mac.md")
    ] = False
    kv_cache_dtype: Annotated[
        Literal["auto", "int8", "int4"],
        Meta(description="auto: as activations; int8: about half of float16; int4: less than a third, less exact"),
    ] = "auto"
    kv_cache_group_size: (
        Annotated[Literal[32, 64], Meta(description="elements that share a scale; unset: 64 if it divides the heads")]
        | None
    ) = None
    kv_cache_full_layers: Annotated[
        list[int], Meta(description="layers with KV that int8 and int4 leave alone; -1 is the last")
    ] = []
    spill_dir: Annotated[str, Meta(description="directory of spilled pages; unset: $PIE_HOME/spill")] | None = None
    spill_max_mb: Annotated[
        int, Meta(ge=0, description="MiB of spilled pages; 0: pages are computed again instead")
    ] = 4096
    kv_disk: Annotated[
        Literal["on", "off"],
        Meta(description="on: KV of prompts is kept in $PIE_HOME/kv for later engines"),
    ] = "off"
    kv_disk_gb: Annotated[
        int, Meta(gt=0, description="GiB of kept KV, of all models; the least recently used goes")
    ] = 20
    kv_disk_daily_gb: Annotated[
        int, Meta(gt=0, description="GiB written per day; below half only what was used twice")
    ] = 50
    kv_disk_shared: Annotated[bool, Meta(description="users find the kept KV of each other")] = False
    snapshot_dir: (
        Annotated[str, Meta(description="directory of persisted snapshots; unset: $PIE_HOME/snapshots")] | None
    ) = None
    persist_snapshots: Annotated[bool, Meta(description="save(name) without persist= also writes to disk")] = False
    max_forward_tokens: Annotated[
        int, Meta(gt=0, description="tokens per tick; determines the memory of the largest batch")
    ] = 2048
    max_forward_requests: Annotated[int, Meta(gt=0, description="contexts per tick")] = 64
    draft_model: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description="a smaller model of the same family, for drafts: the name of another [[model]], a repo id "
                "or a directory",
            ),
        ]
        | None
    ) = None
    draft_head: Annotated[
        bool, Meta(description="load the draft head that the model was trained with, if it has one")
    ] = True
    max_adapters: Annotated[int, Meta(ge=0, description="adapters of one user in memory at once")] = 16
    ready_timeout_s: Annotated[float, Meta(gt=0, description="seconds that a start may take")] = 120.0
    shutdown_timeout_s: Annotated[float, Meta(gt=0, description="seconds that a stop may take")] = 5.0


class ModelConfig(Section, frozen=True):
    """`[[model]]`: the first is the default of programs."""

    hf_repo: Annotated[str, Meta(min_length=1, description="repo id, directory, or pie-tiny")]
    name: Annotated[
        str, Meta(min_length=1, description="its name for programs; unique; unset: the last part of hf_repo")
    ] = ""
    revision: Annotated[str, Meta(min_length=1, description="git revision of a repo id")] | None = None
    load: Annotated[
        Literal["eager", "lazy"], Meta(description="lazy: loaded when a program or request first wants it")
    ] = "eager"
    keep_alive: Annotated[
        str,
        Meta(
            pattern="^(forever|0|[0-9]{1,6}[smh])$",
            description="how long it stays in memory unused: 30s, 5m, 2h, 0 or forever",
        ),
    ] = "forever"
    scheduler: SchedulerConfig = SchedulerConfig()
    engine: EngineConfig = EngineConfig()


class McpConfig(Section, frozen=True):
    """`[[mcp]]`: servers visible to all programs of this engine."""

    name: Annotated[str, Meta(min_length=1, description="its name for programs; unique")]
    transport: Annotated[
        Literal["stdio", "http"], Meta(description="stdio: with command, args, env; http: with url, headers")
    ]
    command: Annotated[str, Meta(min_length=1, description="stdio: the program to start")] | None = None
    args: Annotated[list[str], Meta(description="stdio: its arguments")] = []
    env: Annotated[dict[str, str], Meta(description="stdio: its environment, besides PATH and HOME")] = {}
    url: Annotated[str, Meta(pattern=r"^https?://", description="http: its address")] | None = None
    headers: Annotated[dict[str, str], Meta(description="http: headers of every request")] = {}


class Config(Section, frozen=True):
    """The whole file."""

    aliases: Annotated[
        dict[str, str], Meta(description="other names of models, for requests: gpt-4o-mini = 'pie-tiny'")
    ] = {}
    server: ServerConfig = ServerConfig()
    auth: AuthConfig = AuthConfig()
    telemetry: TelemetryConfig = TelemetryConfig()
    runtime: RuntimeConfig = RuntimeConfig()
    model: list[ModelConfig] = []
    mcp: list[McpConfig] = []

    @property
    def model_names(self) -> dict[str, str]:
        """The name of each model, by that and by its aliases."""
        return {**self.aliases, **{model.name: model.name for model in self.model}}


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its path with `0` for the place in a list, the type of its value, and what it means.

    The value of a `fixed` one cannot be changed in this version.
    """

    path: str
    type: Any
    required: bool
    default: object
    description: str
    fixed: bool = False


def key_of(path: str) -> Key | None:
    """The key at `path`, which has `0` for places in lists. An entry of a table of texts gets a key of its own."""
    if path in KEYS:
        return KEYS[path]
    table = KEYS.get(path.rpartition(".")[0])
    if table is None or typing.get_origin(table.type) is not Annotated or not _is_table(table.type):
        return None
    return Key(path, str, False, None, table.description)


def is_secret(path: str) -> bool:
    """Whether the value at `path` may be a secret."""
    return path.startswith("mcp.") and path.split(".")[2:3] in (["env"], ["headers"])


def json_schema() -> dict[str, Any]:
    """JSON Schema of the file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(Config)}


def _is_table(hint: Any) -> bool:
    return typing.get_origin(typing.get_args(hint)[0]) is dict


def _keys(section: type[msgspec.Struct], prefix: str) -> Iterator[Key]:
    hints = typing.get_type_hints(section, include_extras=True)
    for field in msgspec.structs.fields(section):
        path, hint = f"{prefix}{field.encode_name}", hints[field.name]
        if isinstance(hint, type) and issubclass(hint, Section):
            yield from _keys(hint, f"{path}.")
        elif typing.get_origin(hint) is list and issubclass(typing.get_args(hint)[0], Section):
            yield from _keys(typing.get_args(hint)[0], f"{path}.0.")
        else:
            note = meta(hint)
            fixed = bool(note.extra and note.extra.get("fixed"))
            yield Key(path, hint, field.required, _default(field), note.description or "", fixed)


def _default(field: Any) -> object:
    if field.required:
        return None
    return field.default_factory() if field.default is msgspec.NODEFAULT else field.default


def meta(hint: Any) -> Meta:
    """The bounds and the description of a key's type."""
    notes = (part for part in (hint, *typing.get_args(hint)) for part in typing.get_args(part))
    return next(note for note in notes if isinstance(note, Meta))


KEYS: dict[str, Key] = {key.path: key for key in _keys(Config, "")}
"""Every key by its path, with 0 for list indices."""

TABLE_LISTS = ("model", "mcp")
"""The sections that are lists of tables."""
