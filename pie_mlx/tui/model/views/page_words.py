"""One page of the pool in words."""

from pie_mlx.plural import plural
from pie_mlx.tui.model.pool_books import PageBook
from pie_mlx.tui.model.state import MonitorState
from pie_mlx.tui.model.text import age, clean, one_line

KINDS = {
    "held": "full",
    "working": "being filled",
    "state": "for the state of recurrent layers",
    "snapshot": "of a snapshot",
    "kept": "kept for a while",
    "cached": "cached, free to take",
    "withheld": "withheld, as the system is short of memory",
    "free": "free",
}
KEY_DIGITS = 12


def page_lines(page: PageBook, state: MonitorState) -> list[str]:
    """What is known of a page: its holders, its chain, its times, and last its text."""
    holders = [_holder(number, state) for number in page.contexts]
    others = [f"{page.others} of others"] if page.others else []
    held = f", held by {', '.join([*holders, *others])}" if holders or others else ""
    lines = [f"page {page.page}: {KINDS.get(page.kind, page.kind)}{held}"]
    if page.tokens:
        lines.append(f"{plural(page.tokens, 'token')} from number {page.first:,} of their text" + _user(page))
    if page.key:
        lines.append(f"key {page.key[:KEY_DIGITS]}, after {_before(page)}")
    lines.append(", ".join(filter(None, (*_times(page), *_places(page)))))
    return [*filter(None, lines), *([f"“{clean(page.text)}”"] if page.text else [])]


def _holder(number: int, state: MonitorState) -> str:
    context = state.contexts.get(number)
    process = state.processes.get(context.process) if context else None
    return f"#{number} of {one_line(process.program)} {process.id[:8]}" if process else f"#{number}"


def _user(page: PageBook) -> str:
    return f", computed for {one_line(page.user)}" if page.user else ""


def _before(page: PageBook) -> str:
    return page.after[:KEY_DIGITS] if page.first else "nothing: it is the first"


def _times(page: PageBook) -> list[str]:
    made = "" if page.made_seconds is None else f"in the pool for {age(page.made_seconds)}"
    used = "" if page.used_seconds is None else f"last used {age(page.used_seconds)} ago"
    return [made, used]


def _places(page: PageBook) -> list[str]:
    """Where else it lies."""
    state = "" if page.state_tokens is None else f"a state is kept after token {page.state_tokens:,}"
    return ["also in the disk cache" if page.stored else "", "in the spill file" if page.spilled else "", state]
