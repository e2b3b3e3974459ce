"""The main file of a program in Python."""

from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.manifest import RuntimeSettings
from pie_mlx.runtime.program.source_reading import source_facts
from pie_mlx.runtime.program.source_text import read_text

SUFFIX = ".py"


def read_python(file: Path) -> str:
    """The text of a program's file. Raises LaunchError if the file is missing or not a program."""
    try:
        source = read_text(file)
        if file.suffix != SUFFIX:
            source_facts(source, file, RuntimeSettings().entry)
    except LaunchError:
        if file.suffix == SUFFIX or not file.is_file():
            raise
        raise _no_program(file) from None
    return source


def check_python(source: str, file: Path, entry: str) -> None:
    """Raises LaunchError for a syntax error, or if there is nothing to run: neither an entry nor a script."""
    try:
        _check(source, file, entry)
    except LaunchError:
        if file.suffix == SUFFIX:
            raise
        raise _no_program(file) from None  # it parses as Python by accident, as a single word does


def _check(source: str, file: Path, entry: str) -> None:
    facts = source_facts(source, file, entry)
    is_script = facts.entry_kind == "script"
    if not facts.handles and (facts.entry_kind is None or (is_script and entry != RuntimeSettings().entry)):
        unmet = ", and nothing runs under 'if __name__ == \"__main__\"'" if facts.guarded else ""
        raise LaunchError(
            f"{file}: no 'async def {entry}(input)'{unmet}",
            hint=f"define it, or 'def {entry}(input)' for the blocking API, or write a script that imports inferlet",
        )


def _no_program(file: Path) -> LaunchError:
    hint = "a program is a .py, .ts or .js file, a directory with a main file, or a .pie package"
    return LaunchError(f"{file}: not a program", hint=hint)
