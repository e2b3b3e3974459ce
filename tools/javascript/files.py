"""Where the generated modules are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
SDK = ROOT / "pie_mlx" / "javascript" / "inferlet"
GENERATED = "// Written by `python -m tools.javascript`. Change the Python code, then run it.\n"


def comment(text: str, indent: str = "") -> str:
    """A JSDoc comment of a docstring, on one line where it fits."""
    lines = [line.rstrip() for line in text.replace("*/", "*\\/").splitlines()]
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */"
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"])


def write_changed(file: Path, text: str) -> None:
    """Write a file, unless it has that text."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(file.relative_to(ROOT))
