"""The Homebrew formula of a release: `python -m tools.formula WHEEL URL HOMEPAGE > pie-mlx.rb`, for the folder
`Formula` of a tap. WHEEL is the built file, URL where it can be downloaded."""

import hashlib
import sys
from pathlib import Path

from packaging.utils import parse_wheel_filename

TEMPLATE = Path(__file__).parent.parent / "packaging" / "homebrew" / "pie-mlx.rb"


def formula(wheel: Path, url: str, homepage: str) -> str:
    """Raises ValueError for a URL of another file."""
    if url.rpartition("/")[2] != wheel.name:
        raise ValueError(f"{url} is not the address of {wheel.name}")
    values = {
        "FILE": wheel.name,
        "HOMEPAGE": homepage,
        "SHA256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "URL": url,
        "VERSION": str(parse_wheel_filename(wheel.name)[1]),
    }
    text = "".join(TEMPLATE.read_text(encoding="utf-8").splitlines(keepends=True)[1:])
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


if __name__ == "__main__":
    print(formula(Path(sys.argv[1]), *sys.argv[2:]), end="")
