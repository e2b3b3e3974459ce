"""Keys of files made for other versions: harmless ones are ignored, others are refused with their replacement."""

import re
from collections.abc import Iterator, Mapping

from pie_mlx.config.values import Setting

_IGNORED = {
    r"server\.(registry|python_snapshot)": "",
    r"runtime\.worker_threads": "",
    r"runtime\.wasm_max_memory_mb": ": the limit of a worker is runtime.max_memory_mb",
    r"runtime\.wasm_(max_instances|warm_memory_mb|warm_slots)": "",
    r"model\.\d+\.scheduler\.batch_policy": "",
    r"model\.\d+\.scheduler\.restore_pause_at_utilization": ": restores never pause",
    r"model\.\d+\.engine\.(ipc_profile|spin_budget_us)": "",
}

_ONE_DEVICE = r"model\.\d+\.engine\.tensor_parallel_size"

_QUANTIZATION = "weight_dtype|runtime_quant|mxfp4_moe"
_SPECULATION = r"mtp_\w+|enable_system_speculation"
_EXPERTS = "stream_routed_experts|expert_cache_gb"
_BACKEND = "binary_path|venv|python"
_ENGINE = r"model\.\d+\.engine\."

_REPLACED = {
    rf"{_ENGINE}gpu_mem_utilization": "write kv_memory_fraction, the share of the memory left beside the weights",
    rf"{_ENGINE}memory_profile": "write kv_memory_fraction or total_pages",
    rf"{_ENGINE}(swap_pool_size|cpu_pages)": "write spill_max_mb: pages fall to a file, memory is shared with the GPU",
    rf"{_ENGINE}({_QUANTIZATION})": "name a repo in hf_repo whose weights are quantized already",
    rf"{_ENGINE}({_SPECULATION})": "remove it: programs ask for speculation themselves",
    rf"{_ENGINE}({_EXPERTS})": "remove it: all weights stay in memory",
    rf"{_ENGINE}({_BACKEND})": "remove it: the engine is part of pie-mlx",
    r"(model\.\d+\.scheduler|server|runtime)\.default_token_budget": "write model.scheduler.default_token_limit",
    r"(model\.\d+\.scheduler|server|runtime)\.oversubscription_factor": (
        "write model.scheduler.admission_oversubscription_factor"
    ),
    r"server\.primary_model": "put that [[model]] first",
    r"server\.allow_filesystem": "write runtime.allow_fs",
    r"engine(\..*)?": "write [[model]] and [model.engine]",
    r"sandbox(\..*)?": 'write [runtime] sandbox = "required", "best-effort" or "off"',
}

_DRIVER = re.compile(r"(model(?:\.\d+)?\.driver)(?:\.(.*))?")
_NAMED_MODEL = re.compile(r"model\.([^.]*[^.\d][^.]*)(\..*)?")
_BACKENDS = ("portable", "cuda_native", "vllm", "sglang", "tensorrt_llm")
_KEPT = ("kv_page_size", "total_pages", "activation_dtype", "random_seed", "max_forward_tokens", "max_forward_requests")


def ignored(path: str, setting: Setting) -> str | None:
    """The warning for a key that is accepted and does nothing, None for any other."""
    if re.fullmatch(_ONE_DEVICE, path) and setting.value == 1:
        return f"{path} ({setting.origin}) has no effect here"
    if re.fullmatch(r"model\.\d+\.scheduler\.speculation_depth", path) and _is_above_one(setting.value):
        return f"{path} = {setting.value} ({setting.origin}) counts as 1"
    note = next((note for pattern, note in _IGNORED.items() if re.fullmatch(pattern, path)), None)
    return None if note is None else f"{path} ({setting.origin}) has no effect here{note}"


def _is_above_one(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 < value <= 64


def replaced(settings: Mapping[str, Setting]) -> Iterator[tuple[str, str]]:
    """Retired paths, each with the line that names its replacement; "" if an earlier line did."""
    said: set[str] = set()
    for path, setting in settings.items():
        subject, why = _replacement(path, setting, settings)
        if why:
            yield path, "" if subject in said else f"{subject} ({setting.origin}): {why}"
            said.add(subject)


def _replacement(path: str, setting: Setting, settings: Mapping[str, Setting]) -> tuple[str, str]:
    if driver := _DRIVER.fullmatch(path):
        return driver[1], f"write instead: {_engine_lines(driver[1], settings)}"
    if named := _NAMED_MODEL.fullmatch(path):
        return _named_model(named, path)
    for pattern, instead in _REPLACED.items():
        if re.fullmatch(pattern, path):
            return path, instead
    return path, _value_replacement(path, setting.value)


def _named_model(named: re.Match[str], path: str) -> tuple[str, str]:
    """`[model.NAME]`, or `[model]` with single brackets."""
    if named[2] and named[1] not in ("engine", "scheduler"):
        return f"model.{named[1]}", f'write [[model]] with name = "{named[1]}"'
    return path, "write [[model]] with two brackets"


def _engine_lines(table: str, settings: Mapping[str, Setting]) -> str:
    kept = {path.rpartition(".")[2]: s.value for path, s in settings.items() if path.startswith(f"{table}.")}
    lines = ['[model.engine] type = "mlx"', *(f"{key} = {kept[key]!r}" for key in _KEPT if key in kept)]
    return ", ".join(lines)


def _value_replacement(path: str, value: object) -> str:
    if not re.match(_ENGINE, path):
        return ""
    match path.rpartition(".")[2], value:
        case "type", str() if value in _BACKENDS:
            return f'{value!r} does not run on a Mac: write type = "mlx"'
        case "device", list():
            return 'one device serves a model: write device = "auto"'
        case "device", str() if value.startswith("cuda"):
            return f'{value!r} does not run on a Mac: write device = "auto"'
        case "tensor_parallel_size", _ if value != 1:
            return "one device serves a model: remove it"
        case "kv_cache_dtype", str() if value.startswith(("fp8", "fp4")):
            return f'{value!r} is not among the types of MLX: write kv_cache_dtype = "auto"'
        case "kv_cache_dtype", "bfloat16" | "float16" | "float32":
            return f'pages have the dtype of the activations: write activation_dtype = "{value}"'
        case _:
            return ""
