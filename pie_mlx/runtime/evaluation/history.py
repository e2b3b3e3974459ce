"""The scores of the last run of a program over a data set, to tell what has become worse."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from pie_mlx.documents import read_limited
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.files import make_private, write_file

_LIMIT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class History:
    """A file below PIE_HOME for each data set, program and check."""

    path: Path

    @classmethod
    def of(cls, home: Path, dataset: Path, program: Path, check: str) -> "History":
        name = "\0".join([str(dataset.resolve()), str(program.resolve()), check])
        return cls(home / "evals" / f"{hashlib.blake2b(name.encode(), digest_size=16).hexdigest()}.json")

    def read(self) -> dict[str, float]:
        """Scores by the names of rows; none where there was no run, or the file is damaged."""
        try:
            return msgspec.json.decode(read_limited(self.path, _LIMIT_BYTES), type=dict[str, float])
        except (OSError, InvalidArgumentError, msgspec.MsgspecError):
            return {}

    def write(self, scores: Mapping[str, float]) -> None:
        """Raises OSError."""
        make_private(self.path.parent)
        write_file(self.path, msgspec.json.encode(scores))
