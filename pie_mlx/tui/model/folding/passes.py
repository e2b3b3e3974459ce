"""A context and its reply after a pass."""

import msgspec

from pie_mlx.events import PassCompleted
from pie_mlx.figures import Timed
from pie_mlx.tui.model.context import ContextState, Reply, Span, with_span


def after_pass(
    context: ContextState, event: PassCompleted, timed: Timed | None, seconds: float, latency: float
) -> ContextState:
    """The context at `seconds`, after a pass that took `latency` seconds."""
    return msgspec.structs.replace(
        context,
        reply=context.reply if timed is None else _reply(context, event, timed),
        read_tokens=0,
        prompt_tokens=0,
        waited=0.0,
        wait_reason="",
        held_tokens=event.held_tokens + event.attached_tokens + event.computed_tokens,
        bid=event.bid,
        passes=context.passes + 1 + event.following,
        activity="running",
        reason="",
        passed=seconds,
        since=context.since if context.activity == "running" else seconds,
        spans=with_span(context.spans, Span("forward", _begun(context, seconds - latency), seconds)),
    )


def _begun(context: ContextState, asked: float) -> float:
    """When a pass that was asked for then went on: after it waited, or had no pages."""
    latest = context.spans[-1] if context.spans else None
    return asked if latest is None or latest.kind == "forward" else max(asked, latest.end)


def _reply(context: ContextState, event: PassCompleted, timed: Timed) -> Reply | None:
    """Its reply with the tokens of the pass. None where the beginning was missed."""
    waited = min(context.waited, timed.waited_seconds)  # what it did not ask for, it did not wait for
    reason = context.wait_reason if waited else ""
    if timed.is_first:
        return Reply(
            process=event.process,
            context=event.context,
            asked=timed.since_seconds,
            started=event.started_seconds,
            first=event.completed_seconds,
            latest=event.completed_seconds,
            prompt_tokens=event.input_tokens,
            cached_tokens=event.attached_tokens,
            tokens=event.drawn_tokens,
            waited=waited,
            reason=reason,
        )
    if context.reply is None:
        return None
    return msgspec.structs.replace(
        context.reply,
        latest=event.completed_seconds,
        tokens=context.reply.tokens + event.drawn_tokens,
        waited=context.reply.waited + waited,
        reason=reason or context.reply.reason,
    )
