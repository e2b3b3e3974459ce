from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pie_mlx.engine.policies.simulation.pages import Chain, SimulatedPool


def filled(pool: SimulatedPool, context: int, tokens: int) -> Chain:
    chain = Chain(context)
    pool.grow(chain, pool.lacking_pages(chain, tokens))
    chain.own_tokens = tokens
    return chain


def test_a_fork_shares_full_pages_and_lacks_its_copy_of_the_partial_one():  # P13
    pool = SimulatedPool(10, 4)
    parent = filled(pool, 1, 10)
    child = pool.fork(parent, 2)
    assert (pool.used_pages, pool.effective_pages(parent), pool.lacking_pages(child, 1)) == (3, 2.0, 1)


def test_the_state_of_recurrent_layers_is_there_before_the_first_token_and_of_each_fork():
    pool = SimulatedPool(16, 4)
    chain = Chain(1, state_pages=3)
    assert pool.lacking_pages(chain, 4) == 4
    pool.grow(chain, 4)
    chain.own_tokens = 4
    pool.suspend(chain)
    assert pool.return_pages(chain) == 4
    pool.restore(chain)
    assert pool.lacking_pages(pool.fork(chain, 2), 1) == 4


def test_a_suspended_chain_comes_back_whole_from_the_cache():  # R4
    pool = SimulatedPool(10, 4)
    chain = filled(pool, 1, 10)
    pool.suspend(chain)
    assert pool.restore(chain) == 0


def test_content_is_lost_when_its_pages_are_taken_oldest_first():  # K8
    pool = SimulatedPool(10, 4)
    first, second = filled(pool, 1, 16), filled(pool, 2, 16)
    pool.suspend(first)
    pool.suspend(second)
    third = filled(pool, 3, 20)
    pool.drop(third)
    assert (pool.restore(first), pool.restore(second)) == (3, 0)


def test_shared_pages_stay_while_one_holder_does():  # R1, T16
    pool = SimulatedPool(10, 4)
    parent = filled(pool, 1, 8)
    child = pool.fork(parent, 2)
    pool.suspend(parent)
    assert (pool.used_pages, pool.return_pages(parent), pool.private_pages(child)) == (2, 0, 2)


class PoolMachine(RuleBasedStateMachine):
    """Fills, forks, suspensions, restores and drops in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.pool = SimulatedPool(24, 4)
        self.chains: dict[int, Chain] = {}
        self.next_context = 1

    def pick(self, data: st.DataObject, resident: bool) -> Chain | None:
        chains = [chain for chain in self.chains.values() if chain.resident == resident]
        return data.draw(st.sampled_from(chains)) if chains else None

    @precondition(lambda self: len(self.chains) < 8)
    @rule()
    def begin(self) -> None:
        self.chains[self.next_context] = Chain(self.next_context)
        self.next_context += 1

    @rule(data=st.data(), tokens=st.integers(1, 20))
    def extend(self, data: st.DataObject, tokens: int) -> None:
        chain = self.pick(data, resident=True)
        if chain and self.pool.lacking_pages(chain, tokens) <= self.pool.available_pages:
            self.pool.grow(chain, self.pool.lacking_pages(chain, tokens))
            chain.own_tokens += tokens

    @rule(data=st.data())
    def suspend(self, data: st.DataObject) -> None:
        chain = self.pick(data, resident=True)
        if chain:
            self.pool.suspend(chain)

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        chain = self.pick(data, resident=False)
        if chain and self.pool.return_pages(chain) <= self.pool.available_pages:
            held = self.pool.held_pages(chain)
            assert 0 <= self.pool.restore(chain) <= held

    @precondition(lambda self: len(self.chains) < 8)
    @rule(data=st.data(), resident=st.booleans())
    def fork(self, data: st.DataObject, resident: bool) -> None:
        parent = self.pick(data, resident)
        if parent:
            self.chains[self.next_context] = self.pool.fork(parent, self.next_context)
            self.next_context += 1

    @rule(data=st.data(), resident=st.booleans())
    def drop(self, data: st.DataObject, resident: bool) -> None:
        chain = self.pick(data, resident)
        if chain:
            self.pool.drop(chain)
            del self.chains[chain.context]

    @invariant()
    def effective_pages_add_up_to_the_pages_held(self) -> None:  # K9
        total = sum(self.pool.effective_pages(chain) for chain in self.chains.values())
        assert abs(total - self.pool.used_pages) < 1e-6
        assert 0 <= self.pool.used_pages <= self.pool.capacity_pages

    @invariant()
    def runs_know_their_holders(self) -> None:
        for run in {id(run): run for chain in self.chains.values() for run in chain.runs}.values():
            holders = [chain for chain in self.chains.values() if run in chain.runs]
            assert run.members == len(holders)
            assert run.residents == sum(chain.resident for chain in holders)


PoolMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestPool = PoolMachine.TestCase
