"""Every action of a key: one table for the bindings, the help, the palette and the documentation."""

from typing import NamedTuple

from textual.binding import Binding, BindingType

TABS = ("overview", "inferlets", "sessions", "market", "pages", "mcp", "logs", "launch", "latency", "engine")


class Action(NamedTuple):
    """`keys` are Textual's names, separated by commas. `where` is one of `APP_WIDE`, or names of screens.

    `label` is its text in the key bar (empty: not shown); `steers` marks an action that changes the engine.
    """

    id: str
    keys: str
    where: tuple[str, ...]
    label: str
    help: str
    steers: bool = False


EVERYWHERE = ("everywhere",)
REPLAY = ("replay",)
ENGINES = ("engines",)
MODELS = ("models",)
"""Where there are several."""
APP_WIDE = frozenset({*EVERYWHERE, *REPLAY, *ENGINES, *MODELS})
"""Places of the whole application, whatever the screen."""
PROGRAMS = ("overview", "inferlets", "sessions", "market", "pages", "latency", "process", "tokens")
TABLES = (*TABS, "process", "tokens")

ACTIONS = (
    Action("overview", "1", EVERYWHERE, "", "Overview: figures, trends, the programs that hold most"),
    Action("inferlets", "2", EVERYWHERE, "", "Inferlets: every program, and why it waits"),
    Action("sessions", "3", EVERYWHERE, "", "Sessions: connections; talk to a program"),
    Action("market", "4", EVERYWHERE, "", "Market: price, bids, which context made room for which"),
    Action("pages", "5", EVERYWHERE, "", "Pages: the pool by owner, and the tree of forks"),
    Action("mcp", "6", EVERYWHERE, "", "MCP: servers, their tools, their latest errors"),
    Action("logs", "7", EVERYWHERE, "", "Logs: what happened, line by line"),
    Action("launch", "8", EVERYWHERE, "", "Launch: start an installed program"),
    Action("latency", "9", EVERYWHERE, "", "Latency: waits for tokens, and where requests spent them"),
    Action("engine", "0", EVERYWHERE, "", "Engine: its cache, its drafts, its machine"),
    Action("next_tab", "right", EVERYWHERE, "", "The next screen"),
    Action("previous_tab", "left", EVERYWHERE, "", "The screen before"),
    Action(
        "open",
        "enter",
        ("overview", "inferlets", "market", "pages", "latency", "launch"),
        "open",
        "Open the selected program",
    ),
    Action("back", "escape", TABLES, "back", "Go back; drop the filter"),
    Action("kill", "k", PROGRAMS, "kill", "End the selected program", True),
    Action("filter", "slash", TABLES, "filter", "Show only rows with some text in them"),
    Action("sort_next", "greater_than_sign", TABLES, "", "Sort by the next column"),
    Action("sort_previous", "less_than_sign", TABLES, "sort", "Sort by the column before"),
    Action("reverse", "r", TABLES, "", "Reverse the order"),
    Action("message", "i", ("sessions", "process"), "message", "Send the selected program a message", True),
    Action("file", "f", ("sessions", "process"), "file", "Send the selected program a file", True),
    Action("attach", "a", ("sessions", "process"), "attach", "Attach to the selected program", True),
    Action("level", "l", ("logs",), "level", "Show more or less important lines"),
    Action("follow", "g", ("logs", "tokens"), "follow", "Follow the latest lines, or tokens"),
    Action("heat", "h", ("pages",), "heat", "Colour pages by owner, by last use, or by what also lies on disk"),
    Action("suspend", "z", PROGRAMS, "suspend", "Take the selected program's pages until next used", True),
    Action("bid", "b", PROGRAMS, "bid", "Set the bid of the selected program", True),
    Action("copy_command", "c", PROGRAMS, "copy", "Copy the pie command that shows the selected program"),
    Action("copy_cell", "y", TABLES, "", "Copy the id, a cell or all of the selected row"),
    Action("show_logs", "L", PROGRAMS, "", "Logs of the selected program, its own output first"),
    Action("show_pages", "P", PROGRAMS, "", "Pages of the selected program"),
    Action("show_tokens", "T", PROGRAMS[:-1], "", "Tokens of the selected program, as it draws them"),
    Action("jump", "j", TABLES, "", "Jump to a panel by its letter"),
    Action("next_engine", "e", ENGINES, "engine", "The next engine; its tab is dim if it is gone, and ! is an alert"),
    Action("next_model", "n", MODELS, "model", "The next model: pages, price and bids are those of one"),
    Action("pause", "space", EVERYWHERE, "pause", "Pause or resume the view, or the recording"),
    Action("step_back", "left_square_bracket", REPLAY, "step", "One tick back"),
    Action("step", "right_square_bracket", REPLAY, "", "One tick on"),
    Action("seek_back", "left_curly_bracket", REPLAY, "5 s", "Five seconds back"),
    Action("seek", "right_curly_bracket", REPLAY, "", "Five seconds on"),
    Action("slower", "minus", REPLAY, "", "Play slower"),
    Action("faster", "equals_sign,plus", REPLAY, "speed", "Play faster"),
    Action("maximise", "m", EVERYWHERE, "", "Give the focused panel the whole screen; give it back"),
    Action("theme", "t", EVERYWHERE, "", "The next theme"),
    Action("screenshot", "s", EVERYWHERE, "", "Save a picture of the screen (SVG)"),
    Action("save_recording", "w", EVERYWHERE, "", "Save the events seen so far, for pie top --replay"),
    Action("go_to", "colon", EVERYWHERE, "go to", "Go to a screen or a program by its name"),
    Action("palette", "ctrl+p", EVERYWHERE, "", "Find a command by its name"),
    Action("help", "question_mark", EVERYWHERE, "help", "Show these keys"),
    Action("quit", "q,ctrl+c", EVERYWHERE, "quit", "Leave; the engine keeps running"),
)

BY_ID = {action.id: action for action in ACTIONS}

_SYMBOLS = {
    "slash": "/",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "minus": "-",
    "equals_sign": "=",
    "plus": "+",
    "colon": ":",
    "question_mark": "?",
    "escape": "esc",
}


def bindings(place: str) -> list[BindingType]:
    """The bindings of a screen, or of `everywhere` (the application itself)."""
    places = APP_WIDE if place == "everywhere" else {place}
    return [
        Binding(action.keys, action.id, action.help, id=action.id, show=False)
        for action in ACTIONS
        if places.intersection(action.where)
    ]


def key_name(keys: str) -> str:
    """The symbol of the first key."""
    first = keys.split(",")[0]
    return _SYMBOLS.get(first, first)


def key_names(keys: str) -> str:
    """The symbols of all keys."""
    return " ".join(_SYMBOLS.get(key, key) for key in keys.split(","))


def keys_table() -> str:
    """The table of docs/monitor.md."""
    lines = ["| key | name | where | what it does |", "|---|---|---|---|"]
    for action in ACTIONS:
        keys = " ".join(f"`{key_names(key)}`" for key in action.keys.split(","))
        lines.append(f"| {keys} | `{action.id}` | {', '.join(action.where)} | {action.help} |")
    return "\n".join(lines) + "\n"
