"""Speculation of one pass: which drafts it verifies, and what is known when it is over."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pie_mlx.calls import AnyResult, DraftSourceName, Forward, ForwardReply, SampledTokens, Sampler, Speculation, joined
from pie_mlx.engine.handlers.forward.engine_drafts import DraftRequest, DraftSource, foresight_of, guesses
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.kv.masks import canonical_row
from pie_mlx.engine.model.runner.batch import LogitsRequest, PackedMask
from pie_mlx.engine.model.runner.token_watch import TokenWatch
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.speculation.drafting import (
    BEGIN_STEPS,
    LONGEST,
    Cooldown,
    DraftRow,
    HeadPace,
    MaskedDrafts,
    NgramDrafter,
    Verification,
    Window,
    admitted,
    checked_tree,
    completed,
)
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.logit_mask import only_token
from pie_mlx.errors import InvalidArgumentError

MOST_DRAFTS = 256
"""Drafts of one pass that count: each has a row of logits and a mask."""


@dataclass(slots=True)
class DraftedPass:
    """The window of a pass with the masks of its rows. `slot` is the place of the sampler among the pass's slots.

    `source` made the drafts; None if the program did. `watches` learn what is drawn at each, where somebody watches.
    """

    window: Window
    drafts: MaskedDrafts
    slot: int
    source: DraftSource | None = None
    watches: Sequence[TokenWatch] = ()

    @property
    def count(self) -> int:
        """Drafts to be verified."""
        return len(self.window.tree)

    def trim(self, count: int) -> None:
        """Verify no more than the first `count` drafts."""
        if count < self.count:
            self.window.tree = self.window.tree.first(max(count, 0))

    def reserve(self, store: PageStore, context: int, inputs: int, spare_pages: Callable[[], int]) -> None:
        """Take pages for the drafts, of those that are spare; drafts beyond them are given up."""
        lacking = store.working.lacking(context, inputs + self.count)
        if lacking and lacking > (spare := spare_pages()):
            counters = store.contexts[context].counters()
            self.trim((counters.working + spare) * store.page_size - counters.working_tokens - inputs)
            lacking = store.working.lacking(context, inputs + self.count)
        store.working.reserve(context, lacking)
        self.window.extra_pages = lacking

    def inputs(self, last: WorkingToken, slot: int) -> list[WorkingToken]:
        """The drafts as inputs after `last`; the first of them lies at `slot`."""
        tree = self.window.tree
        masks: list[bytes | None] = [None] * len(tree)
        if not tree.is_chain:
            masks = [canonical_row(tree.visible(place, slot), slot + place) for place in range(len(tree))]
        return [
            last._replace(token=token, position=last.position + depth, mask=mask)
            for token, depth, mask in zip(tree.tokens, tree.depths(), masks, strict=True)
        ]

    def reads(self, drawn: LogitsRequest) -> list[LogitsRequest]:
        """What is drawn at the drafts, when `drawn` is at the last input: with the counters of plain decoding (L6)."""
        tree, before, masks = self.window.tree, drawn.counts, self.drafts.masks
        self.watches = [TokenWatch() for _ in range(len(tree))] if drawn.watch is not None else ()
        counts = [before and before.after([tree.tokens[k] for k in tree.path(place)]) for place in range(len(tree))]
        return [
            LogitsRequest(
                drawn.index + 1 + place,
                drawn.read,
                drawn.stream,
                drawn.counter + depth,
                masks[place],
                counts[place],
                self.watches[place] if self.watches else None,
            )
            for place, depth in enumerate(tree.depths())
        ]

    def find_nothing(self, results: Sequence[AnyResult]) -> None:
        """The pass is over and verified no drafts."""
        drawn = results[self.slot]
        self.window.judge(drawn.tokens if isinstance(drawn, SampledTokens) else [], wanted=True)

    @property
    def made_by(self) -> str:
        """Who made the drafts; "" if there were none."""
        return "" if not self.count else "program" if self.source is None else self.source.name

    @property
    def verification(self) -> Verification:
        """What became of the drafts. Raises RuntimeError before the pass is over."""
        if self.window.verification is None:
            raise RuntimeError("speculation: the pass is not over")
        return self.window.verification

    def drawn(self, results: Sequence[AnyResult], first_draft: int) -> SampledTokens:
        """What was drawn at the last input and at the accepted drafts, whose results begin at `first_draft`."""
        places = [self.slot, *(first_draft + place for place in self.verification.path)]
        return joined(result for place in places if isinstance(result := results[place], SampledTokens))

    @property
    def kept(self) -> int:
        """Drafts that stay in KV."""
        return self.verification.kept

    def emitted(self) -> list[int]:
        """What was drawn, up to and including the first stop token."""
        tokens = self.verification.tokens
        stops = (place for place, token in enumerate(tokens) if token in self.window.stop_tokens)
        return tokens[: next(stops, len(tokens) - 1) + 1]

    def guesses(self) -> tuple[int, int]:
        """Drafts that the engine guessed, and how many were right: forced ones say nothing about its guessing."""
        if self.source is None:
            return 0, 0
        tried = self.drafts.guessed[: self.count]
        return sum(tried), sum(tried[: self.verification.accepted])

    def tell(self, emitted: Sequence[int], cost: float) -> None:
        """Tell the drafter what was written and what was right; a window takes `cost` plain steps."""
        if self.source is not None:
            ended = emitted[-1] in self.window.stop_tokens
            self.source.learn(emitted[:-1] if ended else emitted, *self.guesses(), cost)


async def plan_drafts(
    services: Services,
    context: LiveContext,
    call: Forward,
    speculation: Speculation,
    inputs: Sequence[WorkingToken],
    reads: Sequence[LogitsRequest],
    first: DraftRow,
    fixed: PackedMask | None,
) -> tuple[DraftedPass | None, Sequence[Cooldown]]:
    """The drafts of a pass, as far as limits and masks let them be right; `first` is the row of the last input.

    None for a plain pass, in which nothing is looked for; with the cooldowns of all who may guess, if they rest.

    Raises SpeculationError for malformed drafts, InvalidArgumentError where nothing can be drafted, BatchFailedError
    when the draft model fails.
    """
    slot = _drawing_slot(call)
    loaded = services.runner.model
    if reason := loaded.promises.draft:
        raise InvalidArgumentError(
            f"speculation: {services.model_info.name} {reason}",
            hint="generate without it",
        )
    foreseen = speculation.drafts is None and _is_foreseen(services, context, speculation.source, first)
    if speculation.drafts is None and not foreseen and only_token(first.mask) is None:
        if speculation.source == "grammar":
            return None, ()
        resting = _cooldowns(services, context, speculation.source)
        if resting and all(one.step() for one in resting):
            return None, resting
    sampler = call.slots[slot].read
    if isinstance(sampler, Sampler) and sampler.ends_text:
        return None, ()  # what a rule ends the text after must not be in KV already
    model, held = services.model_info, services.store.sequence_length(context.id)
    room = max(0, min(speculation.limit, MOST_DRAFTS, model.maximum_positions - held - len(inputs)))
    source = None
    if speculation.drafts is None and isinstance(sampler, Sampler):
        tokens, most = [one.token for one in inputs], min(room, LONGEST)
        stops, asked = speculation.stop_tokens, speculation.source
        begin_steps = _begin_steps(services, call, masked=first.mask is not None)
        wanted = DraftRequest(
            context, tokens, reads[slot], sampler, first, fixed, stops, most, asked, foreseen, begin_steps
        )
        guessed, source = await guesses(services, wanted)
        drafts = completed(guessed, first, fixed, speculation.stop_tokens, most)
        if first.mask is not None and not len(drafts.tree) and not _looks_again(services, context, begin_steps):
            return None, ()
    else:
        tree = checked_tree(speculation.drafts or (), speculation.parents, model.vocabulary_size).first(MOST_DRAFTS)
        drawn = call.slots[slot].read
        if loaded.window is not None or loaded.recurrent or (isinstance(drawn, Sampler) and drawn.carries_states):
            # Windows count slots: a branch that lies further on would not see as far back as in plain decoding. The
            # state of a recurrent layer is after one branch only, and so are those that a rule carries.
            tree = tree.first(tree.trunk)
        drafts = admitted(tree.up_to_depth(room), first, fixed)
    waited = 0.0 if source is None else source.waited_seconds
    window = Window(drafts.tree, frozenset(speculation.stop_tokens), waited)
    return DraftedPass(window, drafts, slot, source), ()


def _is_foreseen(services: Services, context: LiveContext, source: DraftSourceName, first: DraftRow) -> bool:
    """Whether a grammar makes a guess that pays or may be tried."""
    services.drafts.grammars.step()
    is_near = None if first.mask is None else foresight_of(services, context, source, first.matchers)
    return is_near is not None and is_near(first.matchers[0])


def _begin_steps(services: Services, call: Forward, *, masked: bool) -> float:
    """What a pass of its own costs where steps of the whole batch could follow at once, in plain steps of a context."""
    follows = masked and call.continuation is not None and call.continuation.asked
    return BEGIN_STEPS * max(services.queue.batch_contexts, 1) if follows else 0.0


def _looks_again(services: Services, context: LiveContext, price: float) -> bool:
    """Whether a pass under a grammar that has no guesses ends with its one step, so that the next one may have some;
    that takes `price` plain steps."""
    queue, looks = services.queue, services.drafts.looks
    looks.step()
    pays = context.drafter is not None and context.drafter.saved > price + queue.window_steps
    return not price or looks.look(queue.ticks, price, pays=pays)


def _cooldowns(services: Services, context: LiveContext, source: DraftSourceName) -> Sequence[Cooldown]:
    """The rests of all who may guess; none where one of them never rests, or was not asked before."""
    if source == "draft_model" or (source == "auto" and services.drafts.model is not None):
        return ()
    asked = list[NgramDrafter | HeadPace | None]()
    if source != "mtp":
        asked.append(context.drafter)
    if source != "ngram" and services.drafts.head is not None:
        asked.append(context.head_pace)
    known = [one.cooldown for one in asked if one is not None]
    return known if len(known) == len(asked) else ()


def _drawing_slot(call: Forward) -> int:
    """The one sampler of the pass: what it draws is what drafts are compared with."""
    drawing = [place for place, slot in enumerate(call.slots) if isinstance(slot.read, Sampler)]
    if call.positions is not None or call.attention_masks is not None:
        raise InvalidArgumentError(
            "speculation: the pass has positions or attention masks of its own",
            hint="draft after plain input, or build the pass by hand: masks, samplers at each draft, truncate",
        )
    if len(drawing) == 1:
        slot = call.slots[drawing[0]]
        if isinstance(slot.read, Sampler) and slot.read.draws == 1 and slot.index == len(call.tokens) - 1:
            return drawing[0]
    raise InvalidArgumentError(
        f"speculation: {len(drawing)} samplers", hint="draw one token, at the last input of the pass, and nothing else"
    )


def verified(
    services: Services,
    context: LiveContext,
    call: Forward,
    matchers: Sequence[Matcher],
    drafted: DraftedPass,
    results: list[AnyResult],
    attached: int,
) -> ForwardReply:
    """The reply of a pass that verified drafts: the sampler answers all that was drawn, before stops cut it (V2)."""
    verification, emitted = drafted.verification, drafted.emitted()
    context.sampled += len(emitted)
    if call.advance_slot is not None:
        for matcher in matchers:
            matcher.accept(emitted)
    drafted.tell(emitted, services.queue.window_steps)
    if drafted.source is not None and drafted.count and drafted.source.name != "grammar":
        services.drafts.looks.learn(drafted.guesses()[1], drafted.source.spent + services.queue.window_steps)
    terminated = any(matcher.is_terminated for matcher in matchers)
    counters = services.store.contexts[context.id].counters()
    return ForwardReply(
        results,
        counters,
        terminated,
        attached,
        drafted.count,
        verification.kept,
        accepted=verification.accepted,
        drafted_by=drafted.made_by,
    )
