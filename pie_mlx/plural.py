"""Counts, as people write them."""


def plural(number: float, one: str, many: str = "") -> str:
    """`0 pages`, `1 page`, `1,234 pages`: `many`, by default `one` with an s, unless there is one."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
