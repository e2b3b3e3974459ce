import math

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pie_mlx.engine.market import Holding, Ledger, SettlementView, imbalance_credits, join, leave, prepay, settle

CREDITS = st.floats(0, 200) | st.sampled_from([0.0, 1.0, 64.0])


class LedgerMachine(RuleBasedStateMachine):
    """Joins, ticks and exits in any order: credits only move (M12, M13, T29)."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger()
        self.next_account = 1

    @rule(endowment=st.integers(1, 500))
    def launch(self, endowment: int) -> None:
        self.ledger = join(self.ledger, self.next_account, endowment)
        self.next_account += 1

    @precondition(lambda self: self.ledger.accounts)
    @rule(data=st.data())
    def exit(self, data: st.DataObject) -> None:
        self.ledger = leave(self.ledger, data.draw(st.sampled_from(sorted(self.ledger.accounts))))

    @rule(data=st.data(), capacity=st.integers(1, 60), page_price=st.sampled_from([0.0, 1.0, 3.5]))
    def tick(self, data: st.DataObject, capacity: int, page_price: float) -> None:
        accounts = st.integers(0, self.next_account)
        demand = st.builds(Holding, st.integers(0, 20), accounts, CREDITS, st.floats(0, 40), st.integers(0, 30))
        holdings = data.draw(st.lists(demand, max_size=8, unique_by=lambda holding: holding.context))
        batch = data.draw(st.lists(st.integers(0, 25), max_size=8))
        made = data.draw(st.dictionaries(st.integers(0, 25), st.integers(0, 5), max_size=5))
        view = SettlementView(capacity, page_price, self.ledger, tuple(holdings), tuple(batch), made)
        settlement = settle(view)
        received = math.fsum(receipt.dividend for receipt in settlement.receipts)
        assert math.isclose(settlement.revenue, received, abs_tol=1e-6)
        self.ledger = settlement.ledger

    @precondition(lambda self: self.ledger.accounts)
    @rule(data=st.data(), wanted=CREDITS)
    def pay_ahead(self, data: st.DataObject, wanted: float) -> None:
        payer = data.draw(st.sampled_from(sorted(self.ledger.accounts)))
        before = self.ledger.accounts[payer]
        self.ledger, paid = prepay(self.ledger, payer, wanted)
        assert paid == min(before.balance, wanted)
        assert self.ledger.accounts[payer].spent == before.spent + paid

    @invariant()
    def credits_are_conserved(self) -> None:
        assert abs(imbalance_credits(self.ledger)) < 1e-6

    @invariant()
    def no_balance_is_negative(self) -> None:
        assert all(account.balance >= 0.0 for account in self.ledger.accounts.values())

    @invariant()
    def nobody_live_means_no_treasury(self) -> None:
        assert self.ledger.accounts or self.ledger.treasury == 0.0


LedgerMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestLedger = LedgerMachine.TestCase
