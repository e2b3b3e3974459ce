"""What the models of an engine are called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pie_mlx.errors import InvalidArgumentError, ModelNotFoundError


@dataclass(frozen=True, slots=True)
class ModelNames:
    """The `names` of all models, the default one first, and `aliases`: other names by which requests may call them.

    Raises InvalidArgumentError for a name that two models have, and an alias that is a model's name or names none.
    """

    names: Sequence[str]
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise InvalidArgumentError(
                f"models: two of them have one name: {', '.join(self.names)}", hint="give each a name of its own"
            )
        for alias, name in self.aliases.items():
            if alias in self.names or name not in self.names:
                why = "is the name of a model" if alias in self.names else f"is of {name!r}, which is no model"
                raise InvalidArgumentError(
                    f"alias {alias!r}: {why}", hint=f"models of this engine: {', '.join(self.names)}"
                )

    @property
    def default(self) -> str:
        """The first model."""
        return self.names[0]

    def aliases_of(self, name: str) -> list[str]:
        """The other names of a model."""
        return [alias for alias, called in self.aliases.items() if called == name]

    def resolve(self, name: str) -> str:
        """The name of the model that is called so. Raises ModelNotFoundError (I2)."""
        found = self.aliases.get(name, name)
        if found not in self.names:
            raise ModelNotFoundError(
                f"model {name!r}: not loaded by this engine",
                hint=f"loaded models: {', '.join([*self.names, *self.aliases])}",
            )
        return found
