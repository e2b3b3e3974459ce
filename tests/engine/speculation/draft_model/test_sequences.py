"""The books of the draft model's pages."""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from pie_mlx.engine.speculation.draft_model.sequences import OVERLAP, DraftSequences

SIZE = 4


def books(pages: int = 64) -> DraftSequences:
    return DraftSequences(pages, SIZE)


def read_all(sequences: DraftSequences, context: int, text: list[int], held: int) -> list[int]:
    """Have a context read `text`, of which `held` tokens are in the large model's KV; what had to be read."""
    pending = sequences.follow(context, held, text[held:], lambda count: text[held - count : held])
    assert sequences.reserve(context, len(pending), {context})
    assert len(set(sequences.next_slots(context, len(pending)))) == len(pending)
    sequences.append(context, pending)
    sequences.check_integrity()
    return pending


def test_a_context_is_read_once() -> None:
    sequences, text = books(), list(range(20))
    assert read_all(sequences, 1, text[:12], 11) == text[:12]
    assert read_all(sequences, 1, text, 19) == text[12:]


def test_the_last_input_is_read_again_because_its_logits_are_wanted() -> None:
    sequences, text = books(), list(range(9))
    read_all(sequences, 1, text, 8)
    assert read_all(sequences, 1, text, 8) == [8]


def test_rejected_guesses_are_forgotten() -> None:
    sequences, text = books(), list(range(9))
    read_all(sequences, 1, [*text, 100, 101, 102], 8)
    assert read_all(sequences, 1, [*text, 100, 55], 9) == [55]


def test_another_text_of_the_same_length_is_noticed() -> None:
    sequences, text = books(), list(range(100, 100 + OVERLAP + 20))
    read_all(sequences, 1, text, len(text) - 1)
    other = [7, *text[1:-2], 8, 9]
    assert read_all(sequences, 1, other, len(other) - 1) == other


def test_a_fork_shares_full_pages_and_then_goes_its_own_way() -> None:
    sequences, text = books(), list(range(10))
    read_all(sequences, 1, text, 9)
    sequences.fork(1, 2)
    used = sequences.used_pages
    assert read_all(sequences, 2, [*text, 50], 10) == [8, 9, 50]
    assert sequences.used_pages == used + 1
    assert read_all(sequences, 1, [*text, 60], 10) == [60]


def test_nobody_writes_to_a_page_that_others_read() -> None:
    sequences, text = books(), list(range(8))
    read_all(sequences, 1, text, 7)
    sequences.fork(1, 2)
    shared = sequences.table(2)
    assert read_all(sequences, 1, [*text[:5], 70, 71], 5) == [4, 70, 71]
    assert sequences.table(1)[0] == shared[0]
    assert sequences.table(1)[1] != shared[1]


def test_who_was_not_used_for_longest_makes_room() -> None:
    sequences, text = books(pages=6), list(range(8))
    for context in (1, 2, 3):
        read_all(sequences, context, text, 7)
    read_all(sequences, 1, [*text, 9], 8)
    assert [context in sequences for context in (1, 2, 3)] == [True, False, True]


def test_busy_contexts_keep_their_pages() -> None:
    sequences, text = books(pages=4), list(range(8))
    read_all(sequences, 1, text, 7)
    read_all(sequences, 2, text, 7)
    assert not sequences.reserve(2, 1, {1, 2})
    assert sequences.length(1) == 8


class Machine(RuleBasedStateMachine):
    """Contexts that grow, go back, fork and die: what is held is always a beginning of the text."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[int, list[int]] = {}

    @initialize(pages=st.integers(8, 24))
    def start(self, pages: int) -> None:
        self.sequences = books(pages)

    @rule(context=st.integers(0, 4), back=st.integers(0, 12), more=st.lists(st.integers(0, 2), min_size=1, max_size=9))
    def go_on(self, context: int, back: int, more: list[int]) -> None:
        text = self.texts.get(context, [])
        text = [*text[: max(0, len(text) - back)], *more][:30]
        held = max(0, len(text) - len(more))
        self.texts[context] = text
        pending = self.sequences.follow(context, held, text[held:], lambda count: text[held - count : held])
        assert pending
        assert text[self.sequences.length(context) :] == pending
        if self.sequences.reserve(context, len(pending), {context}):
            self.sequences.append(context, pending)

    @rule(source=st.integers(0, 4), child=st.integers(5, 9))
    def fork(self, source: int, child: int) -> None:
        self.sequences.fork(source, child)
        self.texts[child] = list(self.texts.get(source, []))

    @rule(context=st.integers(0, 9))
    def drop(self, context: int) -> None:
        self.sequences.drop(context)
        self.texts.pop(context, None)

    @invariant()
    def balance(self) -> None:
        if hasattr(self, "sequences"):
            self.sequences.check_integrity()


TestMachine = Machine.TestCase


class States:
    """Knows the states after some numbers of tokens."""

    def __init__(self, *ends: int) -> None:
        self.ends, self.at = ends, 0

    def known(self, context: int, tokens: int) -> int:
        return max([0, *(end for end in self.ends if end <= tokens)])

    def seek(self, context: int, tokens: int) -> None:
        self.at = tokens

    def put(self, context: int, state: None) -> None:
        self.at = 0


def test_where_states_are_needed_reading_goes_on_after_one_that_is_known() -> None:
    states, text = States(70, 77), list(range(80))
    sequences = DraftSequences(64, SIZE, states)
    assert read_all(sequences, 1, text, 79) == text
    assert read_all(sequences, 1, [*text[:78], 500], 78) == [77, 500]
    assert (states.at, sequences.length(1)) == (77, 79)
    assert read_all(sequences, 1, [*text[:72], 500], 72) == [70, 71, 500]
    assert read_all(sequences, 1, [*text[:9], 500], 9) == [*text[:9], 500]
    assert states.at == 0


def test_forks_share_nothing_where_states_are_needed() -> None:
    sequences, text = DraftSequences(64, SIZE, States(8)), list(range(9))
    read_all(sequences, 1, text, 8)
    sequences.fork(1, 2)
    assert 2 not in sequences
    assert read_all(sequences, 2, text, 8) == text
