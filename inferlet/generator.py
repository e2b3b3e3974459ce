"""Token-by-token generation."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, Self, cast

from msgspec.structs import replace

from inferlet._calls.checks import integer, token_limit, token_list
from inferlet._context.bidding import UNKNOWN_HORIZON, Horizon
from inferlet._context.handle import ContextHandle
from inferlet._context.pending import PendingBuffer
from inferlet._context.reply import answer_text
from inferlet._generation.constraints import ConstraintSet
from inferlet._generation.drafting import NO_LIMIT, Drafting, NoDrafting, SystemDrafting
from inferlet._generation.others import Others
from inferlet._generation.structured import Parse, parse_text, plan_structure
from inferlet._rules.joining import with_end
from inferlet.adapter import Adapter, checked_adapter, checked_seed
from inferlet.constraint import Constraint, Schema
from inferlet.forward import checked_probe, single_draw
from inferlet.grammar import Grammar
from inferlet.output import Output, PassSlots, ProbeHandle
from inferlet.step import Cut, GenStep, Pause, cut, pass_slots
from pie_mlx import calls
from pie_mlx.calls import Probe, RuleUse, SampledTokens, Sampler, Turn
from pie_mlx.errors import ContextBusyError, EmptyMaskError, InvalidArgumentError

FinishReason = Literal["stop", "length", "grammar", "rule", "empty"]

Constraints = Schema | Constraint | Grammar | Sequence[Schema | Constraint | Grammar]


class Generator:
    """Generates on a context, from `Context.generate()`; an async iterator of steps. It keeps its context alive.

    Each step takes the context's whole buffer as input, draws one token and puts it into the buffer.
    """

    def __init__(
        self,
        handle: ContextHandle,
        pending: PendingBuffer,
        sampler: Sampler,
        *,
        max_tokens: int | None,
        stop: Iterable[int] | None,
        constrain: Constraints | None,
        logit_mask: Sequence[int] | None,
        thinking_budget: int | None,
        drafting: Drafting,
        adapter: Adapter | None,
        zo_seed: int | None,
        others: Others,
        horizon: int | None,
        rebid_each_step: bool,
        auto_flush: bool,
    ) -> None:
        handle.check()
        self._handle, self._pending, self._sampler = handle, pending, single_draw(sampler)
        self._max_tokens = token_limit("max_tokens", max_tokens)
        self._horizon = token_limit("horizon", horizon)
        self._rebid_each_step = rebid_each_step
        self._drafting, self._others = drafting, others or None
        self._adapter = checked_adapter(adapter)
        self._zo_seed = checked_seed(zo_seed)
        known = handle.model.info.formats.stop_tokens if auto_flush else ()
        self._stops = frozenset(known if stop is None else self._tokens(stop))
        self._constraints = ConstraintSet(handle.model, logit_mask)
        self._probes: list[tuple[ProbeHandle, int, Probe]] = []
        self._generated = 0
        self._counts_from_here = sampler.counts_tokens and sampler.since is None
        self._score = 0.0
        self._ended: FinishReason | None = None
        self._step_waits = self._step_runs = self._begun = False
        before = pending.snapshot()
        if auto_flush:
            pending.render(Turn("cue"))
        try:
            self._constraints.limit_thoughts(token_limit("thinking_budget", thinking_budget), pending.answer_opening)
            if constrain is not None:
                self.constrain(constrain)
            drafting.attach()
            if auto_flush:
                others.cue()
        except Exception:
            pending.restore(before)
            raise
        handle.bidding.prime(self._horizon_from_here())

    def max_tokens(self, n: int | None) -> Self:
        """Emit at most `n` tokens; None for no limit. Raises InvalidArgumentError below 0."""
        self._max_tokens = token_limit("max_tokens", n)
        self._reprime()
        return self

    def horizon(self, n: int | None) -> Self:
        """Expect `n` tokens; it shapes bids only. Raises InvalidArgumentError below 0."""
        self._horizon = token_limit("horizon", n)
        self._reprime()
        return self

    def stop(self, tokens: Iterable[int]) -> Self:
        """Replace the stop tokens."""
        return self._stop_at(frozenset(self._tokens(tokens)))

    def add_stop(self, tokens: Iterable[int]) -> Self:
        """Add stop tokens."""
        return self._stop_at(self._stops | frozenset(self._tokens(tokens)))

    def rebid_each_step(self, enabled: bool) -> Self:
        """Whether the engine renews the bid before every step; it stays that of the first step otherwise."""
        self._rebid_each_step = enabled
        self._reprime()
        return self

    def disable_system_speculation(self) -> Self:
        """Let the engine draft no more; a speculator of the program goes on."""
        if isinstance(self._drafting, SystemDrafting):
            self._drafting = NoDrafting()
        return self

    def constrain(self, constraint: Constraints) -> Self:
        """Add a schema, a constraint or a list of them. Right after the cue of a model that reasons before it answers,
        schemas that are grammars begin with the answer; everything else applies at once.

        Raises InvalidTypeError for anything else, InvalidArgumentError for a constraint or a matcher that was added
        before, GrammarError.
        """
        self._constraints.attach(constraint, self._stops, self._pending.answer_opening)
        return self

    def until(self, rule: RuleUse) -> Self:
        """End the text where a rule says so, after the token that was drawn: the engine notices, without the program.

        Raises InvalidArgumentError for a rule that ends nothing or changes logits, and where one ends the text already.
        """
        self._sampler = self._sampler.ruled(with_end(self._sampler.rule, rule))
        self._counts_from_here |= rule.graph.counts_tokens and self._sampler.since is None
        return self

    def adapter(self, adapter: Adapter | None) -> Self:
        """Compute every step with an adapter, with none for None. Raises InvalidTypeError for anything else."""
        self._adapter = checked_adapter(adapter)
        return self

    def zo_seed(self, seed: int | None) -> Self:
        """Compute every step with the noise of a seed on the adapter; 0 and None are no noise."""
        self._zo_seed = checked_seed(seed)
        return self

    def probe_each_step(self, index: int, probe: Probe) -> ProbeHandle:
        """Read the distribution at one input of every step: 0-based in that step's input, -1 is the last. On a
        step with a shorter input the accessors give None."""
        handle = ProbeHandle(checked_probe(probe))
        self._probes.append((handle, integer(index, "index"), probe))
        return handle

    @property
    def tokens_generated(self) -> int:
        """Tokens emitted so far, stop tokens excluded."""
        return self._generated

    @property
    def score(self) -> float:
        """Natural log-probability of what was drawn so far, the stop token included: the sum over its tokens, at
        temperature 1 and before masks. 0.0 unless the sampler scores (`Sampler.scored`)."""
        return self._score

    @property
    def sampler(self) -> Sampler:
        """Draws the next token: `sampler.rule.state` has what its rule carries."""
        return self._sampler

    @property
    def is_done(self) -> bool:
        """Whether there is no further step."""
        return self.finish_reason is not None

    @property
    def finish_reason(self) -> FinishReason | None:
        """`stop` token, `length` (max_tokens or the model's maximum), `grammar` or `rule` ended, `empty` buffer; None
        before."""
        if self._ended is None and self._max_tokens is not None and self._generated >= self._max_tokens:
            return "length"
        return self._ended

    def __repr__(self) -> str:
        state = self.finish_reason or ("step not executed" if self._step_waits else "goes on")
        limit = "" if self._max_tokens is None else f" of {self._max_tokens}"
        return f"Generator({self._generated}{limit} tokens, {state})"

    def accept(self, tokens: Iterable[int]) -> list[int]:
        """Register tokens the program chose; returns those kept after stops and limits, which enter the buffer.

        Raises GrammarRejectedError, with nothing changed, for tokens a grammar forbids.
        """
        chosen = self._tokens(tokens)
        self._handle.check()
        if self.is_done:
            return []
        result = cut(chosen, self._stops | self._constraints.end_tokens, self._remaining)
        if result.fed:
            self._step_waits = False  # the next step is another one
            self._keep(result, "grammar" if self._constraints.feed_matchers(result.fed) else None)
            self._drafting.record_produced(chosen)
        return result.kept

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> GenStep:
        if self._step_waits:
            await Pause()  # a task that executes it may not have begun
        if self._step_waits:
            raise InvalidArgumentError(
                "generate: the last step was never executed, so the next one is the same",
                hint="write 'output = await step.execute()' in the loop, or take text whole with collect_text()",
            )
        self._handle.resolve()
        self._drafting.check()
        if self.is_done or not self._has_input():
            raise StopAsyncIteration
        self._step_waits = self._begun = True
        return GenStep(self._run)

    async def collect_tokens(self) -> list[int]:
        """Run to the end; returns all emitted tokens."""
        emitted: list[int] = []
        self._step_waits = False  # of a step that was taken and not executed
        async for step in self:
            emitted += (await step.up_to(NO_LIMIT).execute()).tokens
        return emitted

    async def collect_text(self) -> str:
        """Run to the end; returns the visible text, without reasoning and tool calls."""
        from inferlet._generation.transcript import visible_text

        said = self._pending.decoder_prefix
        return visible_text(self._handle.model, said, await self.collect_tokens())

    async def collect_json(self, *, schema: Any = None, parse: Parse | None = None) -> Any:
        """Run to the end under a JSON Schema and read the text.

        `schema` is JSON text, a dict, a pydantic model class or a type made of those (`list[Model]`), a TypeAdapter, a
        dataclass, a msgspec Struct or another type msgspec knows, and the result is of that type; None is any JSON.
        `parse` reads the text instead. Raises StructuredOutputError, with `.text`, when the text does not parse or has
        a number that no float holds (a grammar allows any exponent where a schema has no bounds), and InvalidTypeError
        for a type with a part that no schema describes: a datetime without a zone, a dict whose keys are not str.
        """
        constraint, reader = plan_structure(schema, parse)
        waits = bool(self._pending.answer_opening)
        self.constrain(constraint)
        tokens = await self.collect_tokens()
        text = answer_text(self._handle.model, tokens) if waits else self._handle.model.tokenizer().decode(tokens)
        return parse_text(reader, text, cut_after=len(tokens) if self.finish_reason == "length" else 0)

    async def _run(self, step: GenStep) -> Output:
        self._step_waits = False
        self._handle.resolve()
        if self.is_done or not self._has_input():
            return Output(None, {})
        if self._others is not None:
            await self._others.prepare(self._handle, self._pending)
        slots, drawn = pass_slots(step, len(self._pending.tokens), self._sampler, self._probes)
        remaining = self._remaining
        request = self._request(slots, remaining, most=step.most if drawn is not None else 0)
        reply = await self._send(request)
        self._handle.bidding.step_done()
        if drawn is None:
            return Output(reply, slots.spans)
        sampled = cast("SampledTokens", reply.results[0])
        result = cut(sampled.tokens, self._stops | self._constraints.end_tokens, remaining)
        self._score += sum(sampled.logprobs[: len(result.fed)])
        if sampled.states:
            self._sampler = self._sampler.after(sampled.states[len(result.fed) - 1])
        self._keep(result, "grammar" if reply.grammar_terminated else "rule" if sampled.ended else None, reply.kept)
        self._drafting.record_produced(sampled.tokens)
        return Output(reply, slots.spans, tokens=result.kept, auto_sampler=drawn)

    def _request(self, slots: PassSlots, remaining: int | None, *, most: int) -> calls.Forward:
        """A pass that draws up to `most` tokens, none for 0, of the `remaining` ones."""
        tokens, constraints = list(self._pending.tokens), self._constraints
        end = self._handle.next_slot + len(tokens)
        room = self._handle.model.info.maximum_positions - end + 1
        room = room if remaining is None else min(room, remaining)
        mask = constraints.logit_mask()
        matchers = constraints.matchers if most else []
        return calls.Forward(
            self._handle.id,
            tokens,
            slots=slots.slots,
            logit_mask=mask if most else [],
            matchers=matchers,
            advance_slot=0 if matchers else None,
            speculation=self._speculation(end, remaining) if most else None,
            continuation=self._continuation(min(most, room), room) if len(slots.slots) == 1 else None,
            adapter=0 if self._adapter is None else self._adapter.id,
            zo_seed=self._zo_seed,
            others=self._others.inputs() if most and self._others is not None else [],
            horizon=self._handle.bidding.for_step(self._prospect().after(0), rebid=self._rebid_each_step),
        )

    def _speculation(self, position: int, remaining: int | None) -> calls.Speculation | None:
        """Drafts from `position` on: none when one token remains, or when a constraint cannot look ahead (V7)."""
        limit = NO_LIMIT if remaining is None else remaining - 1
        if limit < 1 or self._constraints.looks_back:
            return None
        return self._drafting.draft(position, limit, self._stops | self._constraints.end_tokens)

    def _continuation(self, most: int, room: int) -> calls.Continuation | None:
        """The steps after the next one, which draws one of `most` tokens; there is room for `room`. None where the
        program has a say in them, or in their bids."""
        bidding = self._handle.bidding
        if self._constraints.looks_back or bidding.serves_one_pass:
            return None
        if most == 1 and room > 1:
            return self._prefetching(room)
        if most <= 1 or self._probes or self._drafting.needs_program:
            return None
        rebids = self._rebid_each_step and not bidding.idle_depth
        stops = self._stops | self._constraints.end_tokens
        return calls.Continuation(most - 1, list(stops), prospect=self._prospect() if rebids else None)

    def _prefetching(self, room: int) -> calls.Continuation | None:
        """Steps like this one that may be taken before they are asked for, as far as they can be told."""
        plain = not self._drafting.needs_program and self._adapter is None and not self._zo_seed
        if not plain or self._others is not None or self._sampler.scores or self._constraints.matchers:
            return None
        return calls.Continuation(room - 1, list(self._stops), asked=False)

    async def _send(self, request: calls.Forward) -> calls.ForwardReply:
        pending = self._pending
        tokens = pending.drain()
        self._step_runs = True
        try:
            if self._others is not None and request.others:
                return await self._others.run(self._handle, request, lambda: pending.give_back(tokens))
            return await self._handle.run(request, lambda: pending.give_back(tokens))
        except EmptyMaskError as error:
            raise self._constraints.nothing_allowed() from error
        finally:
            self._step_runs = False

    def _has_input(self) -> bool:
        """Whether there is something to run; otherwise the Generator ends."""
        if self._step_runs:
            raise ContextBusyError("generate: a step is still running", hint="await it before taking the next one")
        self._pending.release_held()
        count = len(self._pending.tokens)
        if self._counts_from_here:
            first = self._handle.next_slot + count - self._generated
            self._sampler, self._counts_from_here = replace(self._sampler, since=first), False
        if not count:
            self._pending.check_empty(begun=self._begun)
            self._ended = "empty"
        elif self._generated and self._handle.length + count > self._handle.model.info.maximum_positions:
            self._ended = "length"
        return self._ended is None

    @property
    def _remaining(self) -> int | None:
        """Tokens that may still be emitted; None without a limit."""
        return None if self._max_tokens is None else self._max_tokens - self._generated

    def _keep(self, result: Cut, ended: FinishReason | None, in_kv: int = 0) -> None:
        self._constraints.record_accepted(result.fed)
        self._generated += len(result.kept)
        self._pending.append_to_turn(result.kept, in_kv)
        if self._others is not None:
            self._others.keep(result.kept, in_kv, stopped=result.stopped)
        if ended != "grammar" and result.stopped:
            self._ended, self._pending.stopped = "stop", True
        elif ended is not None:
            self._ended = ended

    def _prospect(self) -> calls.Prospect:
        """The expected length of this text."""
        if self._horizon is not None:
            return calls.Prospect(self._generated, self._horizon, 0.0)
        return calls.Prospect(self._generated, self._max_tokens)

    def _horizon_from_here(self) -> Horizon:
        """The horizon of the first bid: a long text if neither a horizon nor a limit is known."""
        prospect = self._prospect()
        return UNKNOWN_HORIZON if prospect.expected is None else prospect.after(0)

    def _reprime(self) -> None:
        if not self._rebid_each_step:
            self._handle.bidding.prime(self._horizon_from_here())

    def _stop_at(self, stops: frozenset[int]) -> Self:
        self._stops = stops
        if self._generated == 0:
            self._constraints.recompile(stops)
        return self

    def _tokens(self, tokens: Iterable[int]) -> list[int]:
        return token_list(tokens, self._handle.model.info.vocabulary_size)
