"""A page that shows the conversations of a trace: one file without scripts, which loads nothing."""

import base64
import hashlib
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources

from pie_mlx.plural import plural
from pie_mlx.trace.conversation import Account, Conversation, Conversations, ShownToken, conversations, walked
from pie_mlx.trace.file import Recorded
from pie_mlx.trace.times import ProcessTimes, process_times

_UNSURE = ((0.9, "sure"), (0.5, "likely"), (0.1, "unsure"), (0.0, "unlikely"))
"""Classes of drawn tokens by their probability."""
_CONTROLS = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
_VISIBLE = str.maketrans(_CONTROLS | {ord("\n"): "\u23ce\n", ord("\t"): "\u21e5\t"})
_PARTIAL = "\u2025"
"""In place of a token that is the beginning of a character."""
_TABLE_PARTS = 12


def page_of(recorded: Recorded) -> str:
    """The page, in HTML. All text of programs and models is escaped."""
    trace, found = recorded.trace(), conversations(recorded.events)
    style = resources.files("pie_mlx.trace").joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    body = "".join(_process(process_times(process), found) for process in trace.processes.values())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>Trace of {plural(len(trace.processes), 'program')}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<h1>Trace on {_text(trace.model or 'an engine')}</h1>\n"
        f"{_legend(found)}{_missed(recorded)}{body}</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return escape(text.translate(_CONTROLS))


def _legend(found: Conversations) -> str:
    if not found.has_tokens:
        return "<p>The trace has no tokens: a run with <code>pie run --trace</code> records them.</p>\n"
    shades = "".join(f'<span class="t d {name}">{name}</span> ' for _, name in _UNSURE)
    return (
        f'<p class="legend"><span class="t">text of the program</span> <span class="t d">drawn</span> {shades}'
        "by probability, where the program asked for it; rest the pointer on a token for more.</p>\n"
    )


def _missed(recorded: Recorded) -> str:
    return (
        f'<p class="warning">{plural(recorded.missed, "event is", "events are")} missing.</p>\n'
        if recorded.missed
        else ""
    )


def _process(times: ProcessTimes, found: Conversations) -> str:
    roots = found.roots.get(times.process, ())
    account = next((found.accounts[each.account] for each in walked(roots) if each.account in found.accounts), None)
    facts = [
        f"{times.seconds:.3f} s",
        times.outcome or "did not end",
        plural(times.passes, "pass", "passes"),
        f"{plural(times.prefill_tokens, 'prompt token')} computed",
        f"{times.cached_tokens} cached",
        f"{times.decode_tokens} decoded",
        *([] if account is None else [_credits(account)]),
    ]
    where = "".join(
        f"<tr><td>{_text(part.part)}</td><td>{part.self_seconds * 1000:.1f} ms</td></tr>"
        for part in times.parts[:_TABLE_PARTS]
    )
    return (
        f"<section><h2>{_text(times.program)} <small>{_text(times.process)}</small></h2>\n"
        f'<p class="facts">{_text(" · ".join(facts))}</p>\n'
        f"<details><summary>Where the time went</summary><table>{where}</table></details>\n"
        f"{''.join(_tree(roots))}</section>\n"
    )


def _credits(account: Account) -> str:
    paid = account.rent + account.make_cost
    return f"{paid:.2f} credits paid by its family ({account.rent:.2f} rent), {account.dividend:.2f} received"


def _tree(roots: Sequence[Conversation]) -> Iterator[str]:
    """Contexts with their forks inside them, however deep."""
    waiting: list[Conversation | str] = [*reversed(roots)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        else:
            yield _context(each)
            waiting += ["</details>\n", *reversed(each.children)]


def _context(one: Conversation) -> str:
    """A context, whose element its forks follow into."""
    origin = f" fork of {one.source} after {plural(one.first or 0, 'token')}" if one.source else ""
    pages = f"{plural(one.pages, 'page')} at most, {one.shared_pages} of them shared"
    passes, computed = plural(one.passes, "pass", "passes"), plural(one.computed, "token")
    facts = f"{passes} · {computed} computed, {one.cached} cached · {pages}"
    return (
        f'<details open class="context"><summary>Context {one.context}{origin}</summary>\n'
        f'<p class="facts">{_text(facts)}</p>\n<p class="tokens">{"".join(_tokens(one.tokens))}</p>\n'
    )


def _tokens(tokens: Sequence[ShownToken]) -> Iterator[str]:
    decode = getincrementaldecoder("utf-8")("replace").decode
    for token in tokens:
        text = decode(token.piece) or _PARTIAL
        yield f'<span class="{_classes(token)}" title="{_title(token)}">{escape(text.translate(_VISIBLE))}</span>'


def _classes(token: ShownToken) -> str:
    if not token.is_drawn:
        return "t"
    if token.probability is None:
        return "t d"
    return f"t d {next((name for least, name in _UNSURE if token.probability >= least), _UNSURE[-1][1])}"


def _title(token: ShownToken) -> str:
    lines = [f"token {token.id}"]
    if token.probability is not None:
        lines.append(f"probability {token.probability:.4f}")
    lines += [f"{share:.4f} {piece.decode('utf-8', 'backslashreplace')!r}" for piece, share in token.likely]
    return escape("\n".join(lines))
