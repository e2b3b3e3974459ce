"""How a notebook shows contexts, outputs, generators and the engine: HTML, and text for terminals."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from inferlet import Context, Model, Output, runtime
from pie_mlx.calls import EntropyValue, LogprobValues, Probabilities, SampledTokens
from pie_mlx.engine.inspection import ContextStatus, MarketStatus
from pie_mlx.events import PageUsage

MOST_BARS = 12
"""Of one distribution."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Something to look at: a notebook takes the HTML, a terminal the text."""

    text: str
    html: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html


def context_html(context: Context, statuses: Sequence[ContextStatus]) -> str:
    """The tree of forks that a context belongs to, itself in bold."""
    by_number = {status.context: status for status in statuses}
    rows = [
        _context_row(depth, status, is_shown=status.context == context.id)
        for depth, status in _around(context.id, by_number)
    ]
    head = ("context", "tokens in KV", "own pages", "shared pages", "")
    return f"<div>{escape(repr(context))}</div>{_table(head, rows) if rows else ''}"


def output_html(output: Output) -> str:
    """Drawn tokens as text, and a bar for each of the likeliest tokens of a distribution."""
    decode = Model.load(runtime.models()[0]).tokenizer().decode
    parts = [f"<div>{escape(repr(decode(output.tokens)))}</div>"] if output.tokens else []
    for result in output.raw.results if output.raw else ():
        match result:
            case Probabilities(token_ids=tokens, probabilities=shares):
                parts.append(_bars([decode([token]) for token in tokens[:MOST_BARS]], shares))
            case SampledTokens(tokens=tokens, logprobs=values) if not output.tokens:
                scores = f" at {', '.join(f'{value:.3f}' for value in values)}" if values else ""
                parts.append(f"<div>{escape(repr(decode(tokens)))}{scores}</div>")
            case EntropyValue(nats=nats):
                parts.append(f"<div>entropy {nats:.3f} nats</div>")
            case LogprobValues(values=values):
                parts.append(f"<div>log-probabilities {', '.join(f'{value:.3f}' for value in values)}</div>")
            case _:
                pass
    return "".join(parts) or f"<div>{escape(repr(output))}</div>"


def written(text: str, state: str) -> Shown:
    """What a generator has written, and how far it is."""
    return Shown(text, f"<pre>{escape(text)}</pre><small>{escape(state)}</small>")


def engine(model: str, pages: PageUsage, market: MarketStatus) -> Shown:
    """The model, the pool and the clearing price."""
    told = (
        f"{model}: {pages.used} of {pages.total} pages used, {pages.shared} shared, {pages.cached} cached; "
        f"{market.clearing_price:.2f} credits per page and tick"
    )
    return Shown(told, f"<div>{escape(told)}</div>")


def _around(context: int, by_number: Mapping[int, ContextStatus]) -> Iterator[tuple[int, ContextStatus]]:
    """The tree of a context with the depth of each: a context before those that were forked from it."""
    root = context
    while (status := by_number.get(root)) is not None and status.parent in by_number:
        root = status.parent
    yield from _below(root, 0, by_number)


def _below(context: int, depth: int, by_number: Mapping[int, ContextStatus]) -> Iterator[tuple[int, ContextStatus]]:
    if context in by_number:
        yield depth, by_number[context]
        for status in by_number.values():
            if status.parent == context:
                yield from _below(status.context, depth + 1, by_number)


def _context_row(depth: int, status: ContextStatus, *, is_shown: bool) -> list[str]:
    name = f"{'&emsp;' * depth}{status.context}"
    held = status.held
    return [
        f"<b>{name}</b>" if is_shown else name,
        str(status.tokens),
        str(held.own if held else 0),
        str(held.shared if held else 0),
        escape(status.reason) or ("" if status.resident else "not in the pool"),
    ]


def _bars(names: list[str], shares: list[float]) -> str:
    rows = [
        (f"<code>{escape(repr(name))}</code>", f"{share:.3f}", f'<meter min="0" max="1" value="{share:.4f}"></meter>')
        for name, share in zip(names, shares, strict=False)
    ]
    return _table(("token", "probability", ""), rows)


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f"<th>{title}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
