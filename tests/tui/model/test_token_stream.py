from pie_mlx.events import DrawnToken, EngineStarted, TokensDrawn
from pie_mlx.tui.model import INITIAL, Record, fold
from pie_mlx.tui.model.token_stream import MOST_TOKENS, STREAMS, after_drawn


def drawn(first, *texts, context=1, rejected=()):
    return TokensDrawn("p", context, first, tuple(DrawnToken(7, text, 0.5) for text in texts), rejected)


def texts(stream):
    return [token.drawn.text for token in stream.tokens]


def test_tokens_of_a_context_follow_one_another_with_their_rejected_drafts():
    state = fold(INITIAL, [Record(1.0, drawn(0, "a")), Record(1.1, drawn(1, "b", "c", rejected=("x",)))])
    stream = state.streams[1]
    assert (texts(stream), stream.end, stream.missed) == (["a", "b", "c"], 3, 0)
    assert [token.rejected for token in stream.tokens] == [(), (), ("x",)]


def test_what_was_missed_between_two_tokens_is_counted_there_and_what_was_before_the_first_is_not():
    streams = after_drawn(after_drawn({}, drawn(5, "a")), drawn(9, "b"))
    assert [token.missed for token in streams[1].tokens] == [0, 3]
    assert streams[1].missed == 3


def test_the_oldest_tokens_and_the_contexts_that_drew_longest_ago_are_forgotten():
    streams = after_drawn(after_drawn({}, drawn(0, *["a"] * MOST_TOKENS)), drawn(MOST_TOKENS, "b"))
    assert (len(streams[1].tokens), streams[1].end, texts(streams[1])[-1]) == (MOST_TOKENS, MOST_TOKENS + 1, "b")
    for context in [*range(2, STREAMS + 1), 1, STREAMS + 1]:
        streams = after_drawn(streams, drawn(0, "a", context=context))
    assert list(streams) == [*range(3, STREAMS + 1), 1, STREAMS + 1]


def test_a_new_engine_begins_without_streams():
    state = fold(INITIAL, [Record(1.0, drawn(0, "a")), Record(2.0, EngineStarted("m", "market", 64, 16))])
    assert not state.streams
