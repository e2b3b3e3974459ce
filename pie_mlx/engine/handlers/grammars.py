"""Grammars and their matchers. Masks stay packed on the engine's side unless a program asks for one."""

import itertools
from collections.abc import Generator, Sequence

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv.pages.record import check_tokens
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.errors import InvalidArgumentError

LONGEST_BEHIND = 1024
"""A grammar is made of every place in that text, in characters."""
_numbers = itertools.count(1)


def _keep(process: HostedProcess, matcher: Matcher) -> calls.MatcherState:
    number = next(_numbers)
    process.keep_matcher(number, matcher)
    return _state(number, matcher)


def _state(number: int, matcher: Matcher) -> calls.MatcherState:
    return calls.MatcherState(number, matcher.is_complete, matcher.is_terminated, list(matcher.warnings))


def _check_number(what: str, tokens: Sequence[int], most: int) -> None:
    """The engine's loop walks through them."""
    if len(tokens) > most:
        raise InvalidArgumentError(f"{what}: {len(tokens)} tokens, at most {most} at once", hint="pass fewer of them")


@answers(calls.CompileGrammar)
async def compile_grammar(
    services: Services, process: HostedProcess, call: calls.CompileGrammar
) -> calls.MatcherState | None:
    services.check_model(call.model)
    _check_number("compile", call.stop_tokens, services.model_info.vocabulary_size)
    check_tokens(call.stop_tokens, services.model_info.vocabulary_size)
    if len(call.behind) > LONGEST_BEHIND:
        raise InvalidArgumentError(
            f"compile: behind a text of {len(call.behind)} characters, at most {LONGEST_BEHIND}",
            hint="name the text that closes the thought",
        )
    matcher = services.language.grammars.compiled(call.source, call.stop_tokens, call.behind)
    if matcher is None:
        # Compiling may take seconds; the engines release the interpreter lock while they do.
        matcher = await services.language.compiling.run(process.id, _compiling(services, call), process.time.count)
    process.check_open()
    return None if matcher is None else _keep(process, matcher)


def _compiling(services: Services, call: calls.CompileGrammar) -> Generator[None, None, Matcher | None]:
    """All in one step."""
    return services.language.grammars.compile(call.source, tuple(call.stop_tokens), call.behind)
    yield


@answers(calls.ReadMatcherMask)
async def read_mask(services: Services, process: HostedProcess, call: calls.ReadMatcherMask) -> calls.Brle:
    del services
    return process.matcher(call.matcher).brle_mask()


@answers(calls.AdvanceMatcher)
async def advance(services: Services, process: HostedProcess, call: calls.AdvanceMatcher) -> calls.MatcherState:
    _check_number("advance", call.tokens, services.model_info.maximum_positions)
    check_tokens(call.tokens, services.model_info.vocabulary_size)
    matcher = process.matcher(call.matcher)
    matcher.accept(call.tokens)
    return _state(call.matcher, matcher)


@answers(calls.RollbackMatcher)
async def rollback(services: Services, process: HostedProcess, call: calls.RollbackMatcher) -> calls.MatcherState:
    del services
    matcher = process.matcher(call.matcher)
    if call.count is None:
        matcher.reset()
    elif call.count < 0:
        raise InvalidArgumentError(f"rollback: {call.count} is negative", hint="pass 0 or more")
    else:
        matcher.rollback(call.count)
    return _state(call.matcher, matcher)


@answers(calls.ForkMatcher)
async def fork(services: Services, process: HostedProcess, call: calls.ForkMatcher) -> None:
    del services
    if call.number >= 0 or call.number in process.matchers:
        raise InvalidArgumentError(
            f"matcher {call.number}: not a number for a copy", hint="take one below 0 that is not in use"
        )
    process.keep_matcher(call.number, process.matcher(call.matcher).fork())


@answers(calls.ReleaseMatcher)
async def release(services: Services, process: HostedProcess, call: calls.ReleaseMatcher) -> None:
    del services
    process.matchers.pop(call.matcher, None)
