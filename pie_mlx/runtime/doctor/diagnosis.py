"""Judges the facts about a machine: one line per fact, with a hint."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pie_mlx.gpu_meter.gpu_reading import NO_GPU, GpuReading
from pie_mlx.runtime.doctor.languages import LanguageFacts, judged
from pie_mlx.supported import Machine, Obstacle, platform_obstacle, python_obstacle


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One line: what was checked, its status, what was found, and what to do about it ("" for nothing)."""

    check: str
    status: Literal["ok", "warning", "error"]
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FactFailure:
    """Why a fact could not be determined."""

    message: str
    hint: str = ""


WITHOUT_MLX = FactFailure("MLX cannot be used")
"""For facts that need MLX. It produces no line: the line for MLX explains it."""


@dataclass(frozen=True, slots=True)
class MlxFacts:
    """Installed version, required version ("" if unknown), device (cpu or gpu) and the device's name."""

    version: str
    required: str
    device: str
    device_name: str


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Bytes of weights, pool and largest batch, against the bytes available. All 0 without weights."""

    weight_bytes: int
    pages: int
    pool_bytes: int
    available_bytes: int
    step_bytes: int = 0


@dataclass(frozen=True, slots=True)
class SpillFacts:
    """The spill directory, the bytes it may use, the bytes free there, and whether it is writable."""

    directory: str
    wanted_bytes: int
    free_bytes: int
    writable: bool


@dataclass(frozen=True, slots=True)
class DiskCacheFacts:
    """The directory of the disk cache, the bytes in it, those it may have, and those written in all; and the bytes of
    its disk that are free, and that may be used."""

    directory: str
    kept_bytes: int
    wanted_bytes: int
    written_bytes: int
    usable_bytes: int


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """The value of PIE_METAL, and the backend it selects: metal, emulate or off."""

    setting: str
    kind: str


@dataclass(frozen=True, slots=True)
class SandboxFacts:
    """The value of `[runtime] sandbox`; forbidden actions that were stopped and that were not, and why not; and whether
    programs still work."""

    setting: str
    stopped: Sequence[str]
    open: Sequence[str]
    allowed_works: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NetworkFacts:
    """The hosts programs may reach, and the value of `[runtime] sandbox`; why programs could bypass their proxy, "" if
    they cannot."""

    hosts: Sequence[str]
    setting: str
    open_because: str = ""


@dataclass(frozen=True, slots=True)
class ProgramFacts:
    """Errors of unreadable versions; and, if users have keys, versions whose owner does not own their name."""

    damaged: Sequence[str] = ()
    contested: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """The last check of the kernels: its MLX version ("" if the file is unreadable), the kernels that failed, whether
    every case ran or only the first of each kernel, and what has changed since ("" for nothing)."""

    path: str
    mlx: str
    failing: Sequence[str]
    whole: bool = True
    stale_because: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts. `models`, `spills` and `disk_caches` are keyed by the configured model's name."""

    platform: Machine
    mlx: MlxFacts | FactFailure
    products: str | FactFailure
    configuration: str | FactFailure
    models: Mapping[str, ModelFacts | FactFailure]
    tiny: str | FactFailure
    grammars: str | FactFailure
    """llguidance's version."""
    spills: Mapping[str, SpillFacts | FactFailure]
    backend: BackendFacts | FactFailure
    record: RecordFacts | None
    sandbox: SandboxFacts | FactFailure
    network: NetworkFacts | FactFailure | None = None
    """None: programs have no network."""
    node: LanguageFacts | FactFailure | None = None
    wasmtime: LanguageFacts | FactFailure | None = None
    programs: ProgramFacts | FactFailure = ProgramFacts()
    gpu: GpuReading | FactFailure = NO_GPU
    disk_caches: Mapping[str, DiskCacheFacts | FactFailure | None] = field(
        default_factory=dict[str, DiskCacheFacts | FactFailure | None]
    )
    """None: off."""


def diagnose(facts: Facts) -> list[Diagnosis]:
    """All lines, in the order in which to fix problems."""
    lines = [
        python_line(facts.platform),
        platform_line(facts.platform),
        mlx_line(facts.mlx),
        products_line(facts.products),
        *configuration_lines(facts.configuration),
        tiny_line(facts.tiny),
        *(memory_line(name, model) for name, model in facts.models.items()),
        *(spill_line(name, spill) for name, spill in facts.spills.items()),
        *(disk_cache_line(name, cache) for name, cache in facts.disk_caches.items()),
        grammar_line(facts.grammars),
        *program_lines(facts.programs),
        sandbox_line(facts.sandbox),
        *network_lines(facts.network),
        *language_lines("node", facts.node),
        *language_lines("wasmtime", facts.wasmtime),
        backend_line(facts.backend),
        *record_lines(facts.record, facts.backend),
        gpu_line(facts.gpu),
    ]
    return [line for line in lines if line.message != WITHOUT_MLX.message]


def python_line(machine: Machine) -> Diagnosis:
    return _unless(python_obstacle(machine), Diagnosis("python", "ok", ".".join(map(str, machine.python))))


def platform_line(machine: Machine) -> Diagnosis:
    on_linux = f"Linux {machine.machine}: MLX's CPU backend"
    found = on_linux if machine.system == "Linux" else f"macOS {machine.macos} on {machine.machine}"
    return _unless(platform_obstacle(machine), Diagnosis("platform", "ok", found))


def mlx_line(mlx: MlxFacts | FactFailure) -> Diagnosis:
    if isinstance(mlx, FactFailure):
        return _error("mlx", mlx)
    found = f"{mlx.version}, {mlx.device} ({mlx.device_name})"
    if mlx.required and mlx.version != mlx.required:
        hint = f"pip install mlx=={mlx.required}"
        return Diagnosis("mlx", "warning", f"{found}; pie-mlx is tested with {mlx.required}", hint)
    return Diagnosis("mlx", "ok", found)


def products_line(products: str | FactFailure) -> Diagnosis:
    if isinstance(products, FactFailure):
        return _error("matrix products", products)
    if products.startswith("reference BLAS"):
        hint = "pip install 'pie-mlx[fast-cpu]', and leave PIE_FAST_BLAS unset"
        return Diagnosis("matrix products", "warning", f"{products}: prefill is slow", hint)
    return Diagnosis("matrix products", "ok", products)


def configuration_lines(configuration: str | FactFailure) -> list[Diagnosis]:
    if not isinstance(configuration, FactFailure):
        return [Diagnosis("configuration", "ok", configuration)]
    problems = configuration.message.removeprefix("config: ").split("\n     ")
    return [Diagnosis("configuration", "error", problem, configuration.hint) for problem in problems]


def tiny_line(tiny: str | FactFailure) -> Diagnosis:
    if isinstance(tiny, FactFailure):
        return Diagnosis("pie-tiny", "error", tiny.message, "install pie-mlx again: its embedded model is damaged")
    return Diagnosis("pie-tiny", "ok", tiny)


def memory_line(name: str, model: ModelFacts | FactFailure) -> Diagnosis:
    check = f"model {name}"
    if isinstance(model, FactFailure):
        return _error(check, model)
    if not model.weight_bytes:
        return Diagnosis(check, "ok", "random tokens, no weights")
    return Diagnosis(
        check,
        "ok",
        f"{_size(model.weight_bytes)} of weights, {_size(model.pool_bytes)} for {model.pages:,} pages and up to "
        f"{_size(model.step_bytes)} for a batch, of {_size(model.available_bytes)} available",
    )


def spill_line(name: str, spill: SpillFacts | FactFailure) -> Diagnosis:
    check = f"spill {name}"
    if isinstance(spill, FactFailure):
        return Diagnosis(check, "warning", spill.message, spill.hint)
    lost = "pages evicted from the pool are computed again"
    if not spill.wanted_bytes:
        return Diagnosis(check, "ok", f"off: {lost}")
    if not spill.writable:
        message = f"{spill.directory} cannot be written: {lost}"
        return Diagnosis(check, "warning", message, "correct its permissions, or set spill_dir to another directory")
    found = f"{spill.directory}: {_size(spill.free_bytes)} free, up to {_size(spill.wanted_bytes)} wanted"
    if spill.free_bytes < spill.wanted_bytes:
        return Diagnosis(check, "warning", found, "free disk space, or lower spill_max_mb")
    return Diagnosis(check, "ok", found)


def disk_cache_line(name: str, cache: DiskCacheFacts | FactFailure | None) -> Diagnosis:
    check = f"kv on disk {name}"
    if isinstance(cache, FactFailure):
        return Diagnosis(check, "warning", cache.message, cache.hint)
    if cache is None:
        hint = 'set kv_disk = "on" in [model.engine] to keep KV for the next engine'
        return Diagnosis(check, "ok", "off: after a restart prompts are computed again", hint)
    kept, wanted = _size(cache.kept_bytes), _size(cache.wanted_bytes)
    found = f"{cache.directory}: {kept} of up to {wanted}, {_size(cache.written_bytes)} written so far"
    if cache.usable_bytes < cache.wanted_bytes - cache.kept_bytes:
        left = f"{found}; the disk has room for {_size(max(0, cache.usable_bytes))} more"
        return Diagnosis(check, "warning", left, "free disk space, or lower kv_disk_gb")
    return Diagnosis(check, "ok", found)


def grammar_line(grammars: str | FactFailure) -> Diagnosis:
    if isinstance(grammars, FactFailure):
        return _error("grammars", grammars)
    return Diagnosis("grammars", "ok", f"llguidance {grammars}: JSON schemas, regexes, Lark, GBNF, tool calls")


def program_lines(programs: ProgramFacts | FactFailure) -> Iterator[Diagnosis]:
    """One line for each installed version with a problem."""
    check = "programs"
    if isinstance(programs, FactFailure):
        yield _error(check, programs)
        return
    for message in programs.damaged:
        yield Diagnosis(check, "warning", message, "install it again, or remove it with pie remove")
    for identity in programs.contested:
        message = f"{identity} does not belong to the owner of its name: other users must run it by its full name"
        yield Diagnosis(check, "warning", message, f"pie remove {identity}")


def sandbox_line(sandbox: SandboxFacts | FactFailure) -> Diagnosis:
    if isinstance(sandbox, FactFailure):
        return _error("sandbox", sandbox)
    if sandbox.setting == "off":
        return Diagnosis("sandbox", "warning", "off: programs reach what you reach", "set [runtime] sandbox")
    if not sandbox.allowed_works:
        message = f"programs cannot work in it: {sandbox.reason}"
        return Diagnosis("sandbox", "error", message, "set [runtime] sandbox = 'off'")
    if not sandbox.open:
        return Diagnosis("sandbox", "ok", f"tried and stopped: {', '.join(sandbox.stopped)}")
    message = f"tried and not stopped: {', '.join(sandbox.open)}{f' ({sandbox.reason})' if sandbox.reason else ''}"
    if sandbox.setting == "required":
        return Diagnosis("sandbox", "error", message, "set [runtime] sandbox = 'best-effort' to run without it")
    return Diagnosis("sandbox", "warning", message, "run only programs you trust, or use another system")


def network_lines(network: NetworkFacts | FactFailure | None) -> Iterator[Diagnosis]:
    """At most one line; none if programs have no network."""
    if isinstance(network, FactFailure):
        yield _error("network", network)
    elif network is not None:
        yield _network_line(network, f"programs may reach {', '.join(network.hosts) or 'no host'}")


def language_lines(check: str, found: LanguageFacts | FactFailure | None) -> Iterator[Diagnosis]:
    if isinstance(found, FactFailure):
        yield _error(check, found)
    elif found is not None:
        yield Diagnosis(check, *judged(found))


def _network_line(network: NetworkFacts, found: str) -> Diagnosis:
    if network.setting == "off":
        return Diagnosis("network", "warning", f"{found}, but nothing keeps them to it", "set [runtime] sandbox")
    if not network.open_because:
        return Diagnosis("network", "ok", f"{found}: tried, nothing else is reached")
    message = f"{found}, but can get past their proxy: {network.open_because}"
    if network.setting == "required":
        return Diagnosis("network", "error", message, "set [runtime] allow_network = false or sandbox = 'best-effort'")
    return Diagnosis("network", "warning", message, "allow user namespaces on this system, or run programs you trust")


def backend_line(backend: BackendFacts | FactFailure) -> Diagnosis:
    if isinstance(backend, FactFailure):
        return _error("kernels", backend)
    meaning = {
        "metal": "Metal kernels on the Apple GPU",
        "emulate": "kernels on the emulator, which is slow",
        "off": "MLX operations, no kernels",
    }
    found = f"PIE_METAL={backend.setting}: {meaning[backend.kind]}"
    if backend.kind == "emulate":
        return Diagnosis("kernels", "warning", found, "unset PIE_METAL unless you are testing kernels")
    return Diagnosis("kernels", "ok", found)


def gpu_line(gpu: GpuReading | FactFailure) -> Diagnosis:
    check = "gpu meter"
    if isinstance(gpu, FactFailure):
        return Diagnosis(check, "warning", gpu.message, gpu.hint)
    figures = [
        "" if gpu.busy is None else f"{gpu.busy:.0%} busy",
        "" if gpu.watts is None else f"{gpu.watts:.1f} W",
        "" if gpu.celsius is None else f"{gpu.celsius:.0f} °C",
    ]
    found = ", ".join(filter(None, figures))
    if gpu == NO_GPU:
        return Diagnosis(check, "ok", f"not readable here: {gpu.problem}")
    if all(figures):
        return Diagnosis(check, "ok", found)
    missing = f"not all readable here: {gpu.problem or 'the counters stand still'}"
    return Diagnosis(check, "warning", "; ".join(filter(None, (found, missing))), "the monitor shows dots for the rest")


def record_lines(record: RecordFacts | None, backend: BackendFacts | FactFailure) -> Iterator[Diagnosis]:
    """At most one line; none if kernels were never checked and are not used."""
    check, hint = "kernel checks", "pie doctor --kernels"
    if record is None:
        if isinstance(backend, BackendFacts) and backend.kind == "metal":
            yield Diagnosis(
                check,
                "warning",
                "not checked on this machine yet; an engine tries the first case of each when it starts",
                hint,
            )
    elif not record.mlx:
        yield Diagnosis(check, "warning", f"{record.path} cannot be read and is ignored", hint)
    elif record.stale_because:
        yield Diagnosis(check, "warning", f"made with {record.stale_because}: not valid on this machine now", hint)
    elif record.failing:
        failing = ", ".join(record.failing)
        message = f"{failing}: disabled, MLX operations are used instead"
        yield Diagnosis(check, "warning", message, f"report {record.path}, and check again with {hint}")
    elif record.whole:
        yield Diagnosis(check, "ok", f"all passed with mlx {record.mlx}")
    else:
        yield Diagnosis(check, "ok", f"the first case of each passed with mlx {record.mlx}; all of them: {hint}")


def _unless(obstacle: Obstacle | None, line: Diagnosis) -> Diagnosis:
    return line if obstacle is None else Diagnosis(line.check, "error", obstacle.message, obstacle.hint)


def _error(check: str, trouble: FactFailure) -> Diagnosis:
    return Diagnosis(check, "error", trouble.message, trouble.hint)


def _size(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 30):.2f} GiB" if size_bytes >= 1 << 28 else f"{size_bytes / (1 << 20):.0f} MiB"
