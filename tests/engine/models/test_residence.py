"""Which model comes and which goes, by a clock that the tests move."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.models.residence import (
    PATIENCE_SECONDS,
    STAY_SECONDS,
    Demand,
    Load,
    Move,
    Refuse,
    Resident,
    Unload,
    Wait,
    next_move,
)

A = Resident("a", 60, used_seconds=1.0)
B = Resident("b", 30, used_seconds=2.0)


def held(resident: Resident, *processes: str) -> Resident:
    return replace(resident, holders=frozenset(processes))


def wanted(model: str, size_bytes: int, process: str = "p", asked_seconds: float = 100.0) -> Demand:
    return Demand(model, process, size_bytes, asked_seconds)


def at(now: float, residents: Sequence[Resident], *demands: Demand) -> Move:
    return next_move(residents, demands, 100, now)


def test_a_model_is_loaded_where_there_is_room() -> None:
    assert at(100, [A], wanted("c", 40)) == Load("c")


def test_the_least_recently_used_of_the_idle_models_leaves_for_another_one() -> None:
    assert at(100, [A, B], wanted("c", 40)) == Unload("a")


def test_a_model_in_use_stays_and_an_idle_one_leaves() -> None:
    assert at(100, [held(A, "q"), B], wanted("c", 40)) == Unload("b")


def test_a_pinned_model_stays_and_is_named_with_the_numbers_in_the_refusal() -> None:
    pinned = replace(A, keeps="its keep_alive is forever", size_bytes=80 << 30)
    move = next_move([pinned], [wanted("c", 40 << 30)], 100 << 30, 100)
    assert isinstance(move, Refuse)
    assert move.why == "it needs 40.00 GiB of 100.00 GiB; a has 80.00 GiB and stays: its keep_alive is forever"


def test_a_model_that_was_loaded_just_now_stays_for_the_stated_time() -> None:
    fresh = replace(A, loaded_seconds=100.0)
    assert at(101, [fresh], wanted("c", 60)) == Wait(STAY_SECONDS - 1)
    assert at(100 + STAY_SECONDS, [fresh], wanted("c", 60)) == Unload("a")


def test_an_unused_model_leaves_when_its_time_is_up() -> None:
    short = replace(A, expires_seconds=130.0)
    assert at(100, [short]) == Wait(30.0)
    assert at(130, [short]) == Unload("a")
    assert at(130, [held(short, "q")]) == Wait(None)


def test_a_program_waits_for_others_and_not_forever() -> None:
    assert at(100, [held(A, "q")], wanted("c", 60)) == Wait(PATIENCE_SECONDS)
    move = at(100 + PATIENCE_SECONDS, [held(A, "q")], wanted("c", 60))
    assert isinstance(move, Refuse)
    assert "a would have to go, and 1 program uses it" in move.why


def test_a_program_that_itself_holds_what_is_in_its_way_is_refused_at_once() -> None:
    assert isinstance(at(100, [held(A, "p")], wanted("c", 60)), Refuse)


def test_of_two_programs_that_hold_what_the_other_one_wants_the_last_to_ask_is_refused() -> None:
    residents = [held(replace(A, size_bytes=50), "p"), held(replace(B, size_bytes=50), "q")]
    last = wanted("d", 50, "q", 101.0)
    move = at(102, residents, wanted("c", 50, "p"), last)
    assert isinstance(move, Refuse)
    assert move.demand == last


DRAFTER = replace(B, drafts_for=frozenset({"a"}), used_seconds=0.0, expires_seconds=110.0)


def test_a_draft_model_stays_while_a_model_has_its_weights_and_leaves_after_it() -> None:
    assert at(120, [A, DRAFTER]) == Wait(None)
    assert at(120, [A, DRAFTER], wanted("c", 90)) == Unload("a")
    assert at(120, [replace(DRAFTER, drafts_for=frozenset())]) == Unload("b")


def test_a_model_that_fits_only_without_its_own_draft_model_is_refused_with_the_numbers() -> None:
    drafter = replace(B, size_bytes=30 << 30)
    move = next_move([drafter], [replace(wanted("c", 80 << 30), drafter="b")], 100 << 30, 100)
    assert isinstance(move, Refuse)
    assert move.why == "it needs 80.00 GiB of 100.00 GiB; b has 30.00 GiB and stays: it drafts for c"


def test_the_draft_model_of_a_pinned_model_is_named_in_the_refusal() -> None:
    pinned = replace(A, keeps="its keep_alive is forever")
    move = at(100, [pinned, DRAFTER], wanted("c", 40))
    assert isinstance(move, Refuse)
    assert "b has 0.00 GiB and stays: it drafts for a" in move.why


def test_a_program_waits_for_the_users_of_a_model_whose_draft_model_is_in_its_way_too() -> None:
    assert at(100, [held(A, "q"), DRAFTER], wanted("c", 90)) == Wait(PATIENCE_SECONDS)


def test_a_draft_model_that_was_loaded_for_a_model_that_waits_makes_nobody_wait_for_it() -> None:
    loaded = held(B, "")  # nobody's program asked: pie model load
    move = at(100, [loaded], wanted("c", 80), replace(wanted("a", 60, ""), drafter="b"))
    assert isinstance(move, Refuse)
    assert move.demand.model == "a"


SIZES = {"a": 60, "b": 50, "c": 30, "d": 20}
NOBODY = Resident("", 0)


@dataclass
class World:
    """An engine's models with 100 bytes, and programs that each use some models, one after the other."""

    programs: dict[str, list[str]]
    drafters: dict[str, str] = field(default_factory=dict[str, str])
    now: float = 0.0
    residents: dict[str, Resident] = field(default_factory=dict[str, Resident])
    demands: list[Demand] = field(default_factory=list[Demand])
    loads: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])

    def step(self) -> None:
        for program, models in self.programs.items():
            waits = any(demand.process == program for demand in self.demands)
            if models and not waits:
                self.demands.append(self._demand(program, models[0]))
        match next_move(list(self.residents.values()), self.demands, 100, self.now):
            case Load(model=model):
                self._load(model)
            case Unload(model=model):
                assert not self.residents[model].holders
                assert not self.residents[model].drafts_for
                del self.residents[model]
            case Refuse(demand=demand):
                self.demands.remove(demand)
                self._let_go(demand.process)
                self.programs[demand.process].clear()
            case Wait(seconds=seconds):
                self.now += 0.1 if seconds is None else max(seconds, 1e-6)
        for target, drafter in self.drafters.items():
            assert target not in self.residents or drafter in self.residents
            if drafter in self.residents:
                targets = frozenset({target} & self.residents.keys())
                self.residents[drafter] = replace(self.residents[drafter], drafts_for=targets)
        assert sum(one.size_bytes for one in self.residents.values()) <= 100

    def _demand(self, program: str, model: str) -> Demand:
        """What a program waits for: for the draft model first, which it holds until it has the model itself."""
        drafter = self.drafters.get(model, "")
        if drafter and program not in self.residents.get(drafter, NOBODY).holders:
            model, drafter = drafter, ""
        return Demand(model, program, SIZES[model], self.now, drafter)

    def _let_go(self, program: str) -> None:
        for name, one in self.residents.items():
            self.residents[name] = replace(one, holders=one.holders - {program})

    def _load(self, model: str) -> None:
        served = {demand.process for demand in self.demands if demand.model == model}
        if model not in self.residents:
            self.loads.append((self.now, model))
            self.residents[model] = Resident(
                model, SIZES[model], loaded_seconds=self.now, expires_seconds=self.now + 30
            )
        self.demands = [demand for demand in self.demands if demand.model != model]
        for program in served:  # it uses the model at once, and is done with it
            if self.programs[program][0] == model:
                self.programs[program].pop(0)
                self._let_go(program)
            else:
                self.residents[model] = held(self.residents[model], *self.residents[model].holders, program)
        self.residents[model] = replace(self.residents[model], used_seconds=self.now)


@given(st.lists(st.lists(st.sampled_from(sorted(SIZES)), min_size=1, max_size=4), min_size=1, max_size=5))
def test_all_programs_finish_memory_is_never_promised_twice_and_models_stay_for_the_stated_time(
    uses: list[list[str]],
) -> None:
    world = World({f"p{number}": list(models) for number, models in enumerate(uses)}, {"b": "d"})
    for _ in range(400):
        world.step()
        if not any(world.programs.values()):
            break
    assert not any(world.programs.values())
    for model in SIZES:
        times = [moment for moment, loaded in world.loads if loaded == model]
        assert all(later - earlier >= STAY_SECONDS for earlier, later in itertools.pairwise(times))


def test_two_programs_that_want_two_models_which_fit_one_at_a_time_both_finish() -> None:
    world = World({"p": ["a", "b", "a"], "q": ["b", "a", "b"]})
    for _ in range(100):
        world.step()
    assert world.programs == {"p": [], "q": []}
    moments = [moment for moment, _ in world.loads]
    assert all(later - earlier >= STAY_SECONDS for earlier, later in itertools.pairwise(moments))


@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_a_model_that_somebody_waits_for_does_not_leave(seconds: float) -> None:
    assert at(seconds, [replace(A, expires_seconds=0.0)], wanted("a", 60)) == Load("a")
