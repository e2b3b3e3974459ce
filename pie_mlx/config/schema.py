"""Every key of config.toml, with its type, default, rule and meaning."""

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta


class Section(msgspec.Struct, frozen=True):
    """A table of the file."""


class SchedulerConfig(Section, frozen=True):
    """`[model.scheduler]`"""

    policy: Annotated[
        Literal["market", "fcfs", "priority"],
        Meta(description="who gets pages and rows first: by bid, by age, or by a fixed priority"),
    ] = "market"
    default_token_limit: Annotated[int, Meta(gt=0, description="tokens of a launch that names no budget")] | None = None
    default_endowment_pages: Annotated[int, Meta(gt=0, description="pages' worth of credits a launch starts with")] = 64
    max_chunk_tokens: Annotated[int, Meta(gt=0, description="tokens; longest piece of a prompt per tick")] = 512


class EngineConfig(Section, frozen=True):
    """`[model.engine]`"""

    type: Annotated[Literal["mlx", "dummy"], Meta(description="dummy: random tokens, no weights")] = "mlx"
    activation_dtype: Annotated[
        Literal["auto", "bfloat16", "float16", "float32"], Meta(description="auto: the checkpoint's own")
    ] = "auto"
    random_seed: Annotated[int, Meta(ge=0, description="seed of every draw that has none of its own")] = 42
    kv_page_size: Annotated[Literal[8, 16, 32], Meta(description="tokens per page")] = 16
    total_pages: Annotated[int, Meta(gt=0, description="pages of the pool; unset: by kv_memory_fraction")] | None = None
    kv_memory_fraction: Annotated[
        float, Meta(gt=0, le=1, description="share of the memory that weights and headroom leave")
    ] = 0.8
    memory_headroom_mb: Annotated[int, Meta(ge=0, description="MiB kept free")] = 2048
    spill_dir: (
        Annotated[str, Meta(description="where pages go that fall out of the pool; unset: $PIE_HOME/spill")] | None
    ) = None
    spill_max_mb: Annotated[int, Meta(ge=0, description="MiB of that; 0: such pages are computed again")] = 4096
    max_forward_tokens: Annotated[int, Meta(gt=0, description="tokens per tick")] = 2048
    max_forward_requests: Annotated[int, Meta(gt=0, description="contexts per tick")] = 64


class ModelConfig(Section, frozen=True):
    """`[[model]]`: the first is the default of programs."""

    name: Annotated[str, Meta(min_length=1, description="what programs call it")]
    hf_repo: Annotated[str, Meta(min_length=1, description="repo id, directory, or pie-tiny")]
    scheduler: SchedulerConfig = SchedulerConfig()
    engine: EngineConfig = EngineConfig()


class Config(Section, frozen=True):
    """The whole file."""

    model: list[ModelConfig]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: its path with `0` for the place in a list, the type of its value, and what it means."""

    path: str
    type: Any
    required: bool
    default: object
    description: str


def _keys(section: type[msgspec.Struct], prefix: str) -> Iterator[Key]:
    hints = typing.get_type_hints(section, include_extras=True)
    for field in msgspec.structs.fields(section):
        path, hint = f"{prefix}{field.encode_name}", hints[field.name]
        if isinstance(hint, type) and issubclass(hint, Section):
            yield from _keys(hint, f"{path}.")
        elif typing.get_origin(hint) is list and issubclass(typing.get_args(hint)[0], Section):
            yield from _keys(typing.get_args(hint)[0], f"{path}.0.")
        else:
            yield Key(path, hint, field.required, None if field.required else field.default, _description(hint))


def _description(hint: Any) -> str:
    notes = (part for part in (hint, *typing.get_args(hint)) for part in typing.get_args(part))
    return next((note.description or "" for note in notes if isinstance(note, Meta)), "")


KEYS: dict[str, Key] = {key.path: key for key in _keys(Config, "")}
"""Every key by its path, with 0 in place of list indices."""
