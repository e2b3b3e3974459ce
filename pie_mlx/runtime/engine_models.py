"""The models that an engine is asked for, and those that it has."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.models.slot import ModelStatus
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.program.findings import nearest


def settings_of(
    model: str | Path | EngineSettings | Sequence[EngineSettings], changes: dict[str, Any]
) -> list[EngineSettings]:
    """Settings of each model, with the changes. Raises InvalidArgumentError for an unknown one."""
    known = [field.name for field in dataclasses.fields(EngineSettings) if field.name != "model"]
    for name in changes.keys() - set(known):
        what = f"engine setting {name!r}: unknown{nearest(name, known)}"
        raise InvalidArgumentError(what, hint=f"known settings: {', '.join(known)}")
    models = [EngineSettings(str(model))] if isinstance(model, str | Path) else model
    models = [models] if isinstance(models, EngineSettings) else models
    return [dataclasses.replace(one, **changes) for one in models]


class Models:
    """The models of a running engine. Names may be aliases."""

    def __init__(self, core: EngineCore) -> None:
        self._core = core

    def status(self) -> list[ModelStatus]:
        """Every model, the default one first."""
        return self._core.models.status()

    def resolve(self, name: str) -> str:
        """The name of the model that is called so. Raises ModelNotFoundError."""
        return self._core.names.resolve(name)

    async def load(self, name: str) -> None:
        """Have a model in memory. Raises ModelNotFoundError, ModelLoadError and their kin."""
        await self._core.load_model(name)

    async def unload(self, name: str) -> None:
        """Give a model's memory back. Raises ModelError while programs use it, and ModelNotFoundError."""
        await self._core.unload_model(name)
