"""The manifest a lone Python file carries in a comment block, as scripts carry their metadata (PEP 723)."""

from pie_mlx.errors import LaunchError

_OPENING = "# /// pie"
_CLOSING = "# ///"


def inline_manifest(source: str) -> str | None:
    """The TOML between `# /// pie` and `# ///`, None without such a block. Raises LaunchError for a broken one."""
    lines = [line.rstrip() for line in source.splitlines()]
    openings = lines.count(_OPENING)
    if openings == 0:
        return None
    if openings > 1:
        raise LaunchError("Invalid manifest: two '# /// pie' blocks", hint="keep one of them")
    block = lines[lines.index(_OPENING) + 1 :]
    comments = block[: _comment_length(block)]
    if _CLOSING not in comments:
        raise LaunchError("Invalid manifest: the '# /// pie' block does not end", hint="close it with a line '# ///'")
    return "\n".join(line[2:] for line in comments[: comments.index(_CLOSING)])


def _comment_length(lines: list[str]) -> int:
    return next((i for i, line in enumerate(lines) if line != "#" and not line.startswith("# ")), len(lines))
