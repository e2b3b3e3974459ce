"""Gathers the facts that `diagnose` judges. A failure becomes a `FactFailure`: nothing here raises."""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from pie_mlx.config import Config, load_config, pie_home
from pie_mlx.documents import json_value
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import PieError
from pie_mlx.gpu_meter.gpu_reading import GpuReading
from pie_mlx.gpu_meter.meter import GpuMeter
from pie_mlx.plural import plural
from pie_mlx.runtime.configured import engine_settings
from pie_mlx.runtime.doctor.diagnosis import (
    WITHOUT_MLX,
    BackendFacts,
    DiskCacheFacts,
    FactFailure,
    Facts,
    MlxFacts,
    ModelFacts,
    NetworkFacts,
    ProgramFacts,
    RecordFacts,
    SandboxFacts,
    SpillFacts,
)
from pie_mlx.runtime.doctor.languages import node_facts, wasmtime_facts
from pie_mlx.supported import this_machine

Found = TypeVar("Found")


def machine_facts(config_file: Path | None, environment: Mapping[str, str]) -> Facts:
    """Everything `diagnose` judges. Loads MLX and pie-tiny; takes some seconds."""
    mlx = attempt(_mlx)
    with_mlx = _given_up if isinstance(mlx, FactFailure) else attempt
    configuration, settings = _configuration(config_file, environment)
    return Facts(
        platform=this_machine(),
        mlx=mlx,
        products=with_mlx(_products),
        configuration=configuration,
        models={name: with_mlx(lambda one=one: _model(one, settings)) for name, one in settings.items()},
        tiny=with_mlx(_tiny),
        grammars=attempt(_grammars),
        spills={name: attempt(lambda one=one: spill_facts(one)) for name, one in settings.items()},
        disk_caches={name: attempt(lambda one=one: disk_cache_facts(one)) for name, one in settings.items()},
        backend=with_mlx(lambda: _backend(environment)),
        sandbox=attempt(lambda: _sandbox(config_file, environment)),
        network=attempt(lambda: _network(config_file, environment)),
        node=attempt(node_facts),
        wasmtime=attempt(wasmtime_facts),
        programs=attempt(lambda: program_facts(config_file, environment)),
        record=None if isinstance(mlx, FactFailure) else _record(environment),
        gpu=attempt(_gpu),
    )


def attempt(look: Callable[[], Found]) -> Found | FactFailure:
    """The result of `look`, or its error."""
    try:
        return look()
    except PieError as error:
        return FactFailure(error.message, error.hint)
    except Exception as error:  # a broken installation may raise anything
        return FactFailure(f"{type(error).__name__}: {error}", "install pie-mlx again, or report this")


def _given_up(look: Callable[[], Any]) -> FactFailure:
    del look
    return WITHOUT_MLX


def spill_facts(settings: EngineSettings) -> SpillFacts:
    """Facts about the spill directory, or its nearest existing parent. Raises OSError."""
    directory = Path(settings.spill_directory or "")
    existing = _existing(directory)
    return SpillFacts(
        str(directory),
        settings.spill_max_bytes,
        shutil.disk_usage(existing).free,
        existing.is_dir() and os.access(existing, os.W_OK | os.X_OK),
    )


def disk_cache_facts(settings: EngineSettings) -> DiskCacheFacts | None:
    """Facts about the disk cache; None without one. Raises OSError."""
    from pie_mlx.engine.paging.disk.directory import LEAST_FREE, CacheDirectory

    if settings.disk_cache is None:
        return None
    wanted = settings.disk_cache.max_bytes
    directory = CacheDirectory(Path(settings.disk_cache.directory), max_bytes=wanted, day_bytes=0)
    disk = shutil.disk_usage(_existing(directory.root))
    kept = sum(file.size_bytes for file in directory.files())
    written, usable = directory.writes().written_bytes, int(disk.free - LEAST_FREE * disk.total)
    return DiskCacheFacts(str(directory.root), kept, wanted, written, usable)


def _existing(directory: Path) -> Path:
    """The directory or its nearest parent that is there."""
    return next(path for path in (directory, *directory.resolve().parents) if path.exists())


def record_facts(path: Path) -> RecordFacts | None:
    """The record of the last kernel check, None without one."""
    from pie_mlx.metal.record import record_key, stale_because

    try:
        content: Any = json_value(path.read_bytes())
        stale = stale_because(content, record_key())
        failing = [str(name) for name in content["failing"]]
        return RecordFacts(str(path), str(content["mlx"]), failing, bool(content["whole"]), stale)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        return RecordFacts(str(path), "", [])


def _configuration(
    file: Path | None, environment: Mapping[str, str]
) -> tuple[str | FactFailure, Mapping[str, EngineSettings]]:
    """What was loaded and the settings of its models; those of pie-tiny if loading failed."""
    home = pie_home(environment)
    loaded = attempt(lambda: load_config(file, environment))
    if isinstance(loaded, FactFailure):
        return loaded, {"pie-tiny": EngineSettings(spill_directory=str(home / "spill"))}
    origins = sorted({setting.origin for setting in loaded.settings.values()})
    config: Config = loaded.config
    names = config.model_names
    settings = {model.name: engine_settings(model, home) for model in config.model}
    settings = {
        name: replace(one, draft_model=names.get(one.draft_model or "", one.draft_model))
        for name, one in settings.items()
    }
    return f"{plural(len(settings), 'model')}, from {', '.join(origins)}", settings


def _mlx() -> MlxFacts:
    from pie_mlx.backends.device import check_device, device_report

    check_device()
    device = device_report()
    name = str(device.get("device_name", "unknown"))
    return MlxFacts(metadata.version("mlx"), _required("mlx"), device["default"], name)


def _required(distribution: str) -> str:
    """The version pie-mlx pins, "" if pie-mlx is not installed as a package."""
    try:
        requirements = metadata.requires("pie-mlx") or []
    except metadata.PackageNotFoundError:
        return ""
    pins = (re.match(rf"{distribution}(?:\[\w+\])?==([\w.]+)", requirement) for requirement in requirements)
    return next((pin[1] for pin in pins if pin), "")


def _products() -> str:
    from pie_mlx.backends import current_backend

    return current_backend().prepare()


def _model(settings: EngineSettings, others: Mapping[str, EngineSettings]) -> ModelFacts:
    if settings.dummy:
        return ModelFacts(0, 0, 0, 0)
    from pie_mlx.runtime.doctor.footprint import model_footprint

    drafter = others.get(settings.draft_model or "")
    return model_footprint(settings, None if drafter is settings else drafter)


def _tiny() -> str:
    from pie_mlx.engine.model.loading.load import load_model

    model = load_model("pie-tiny", name="pie-tiny")
    return f"loads: {len(model.layers)} layers, a vocabulary of {model.vocabulary_size:,}"


def _grammars() -> str:
    import llguidance as _  # noqa: F401 - tests that it loads

    return metadata.version("llguidance")


def _sandbox(file: Path | None, environment: Mapping[str, str]) -> SandboxFacts:
    from pie_mlx.runtime.sandbox.probe import probe_sandbox

    loaded = attempt(lambda: load_config(file, environment))
    setting = "best-effort" if isinstance(loaded, FactFailure) else loaded.config.runtime.sandbox
    found = probe_sandbox()
    return SandboxFacts(setting, found.stopped, found.open, found.allowed_works, found.reason)


def _network(file: Path | None, environment: Mapping[str, str]) -> NetworkFacts | None:
    from pie_mlx.runtime.sandbox.probe import probe_network

    loaded = attempt(lambda: load_config(file, environment))
    if isinstance(loaded, FactFailure) or not loaded.config.runtime.allow_network:
        return None
    runtime = loaded.config.runtime
    open_because = "" if runtime.sandbox == "off" else probe_network().reason
    return NetworkFacts(runtime.network_allowed_hosts, runtime.sandbox, open_because)


def program_facts(file: Path | None, environment: Mapping[str, str]) -> ProgramFacts:
    """Facts about the installed programs; makes no directory for them."""
    from pie_mlx.runtime.store import ProgramStore

    home = pie_home(environment)
    if not (home / "programs").is_dir():
        return ProgramFacts()
    store = ProgramStore(home)
    loaded = attempt(lambda: load_config(file, environment))
    with_keys = not isinstance(loaded, FactFailure) and loaded.config.auth.enabled
    return ProgramFacts([error.message for error in store.damaged()], store.contested() if with_keys else [])


def _gpu() -> GpuReading:
    meter = GpuMeter()
    try:
        return meter.read()
    finally:
        meter.close()


def _backend(environment: Mapping[str, str]) -> BackendFacts:
    from pie_mlx.backends.choice import chosen_kernels, on_apple_gpu, requested_kernels

    wish = requested_kernels(environment)
    return BackendFacts(wish, chosen_kernels(wish, apple_gpu=on_apple_gpu()))


def _record(environment: Mapping[str, str]) -> RecordFacts | None:
    from pie_mlx.metal.record import record_file

    return record_facts(record_file(environment))
