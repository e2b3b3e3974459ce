"""The log-probabilities of prompts, as evaluation harnesses ask for them."""

from functools import partial

import openai
import pytest

from pie_mlx.events import PassCompleted
from tests.server.http.openai.conftest import MODEL

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def create(client):
    return partial(client.completions.create, model=MODEL, temperature=0)


STORY = "<|im_start|>user\nTell me a story.<|im_end|>\n<|im_start|>assistant\n"
PROMPT = [40, 51, 302, 77, 519]
OTHERS = [[40, 51, 302, 90, 12, 13], [40, 51, 302, 77, 519, 8], [7, 8, 9], PROMPT]


def entries(choice):
    read = choice.logprobs
    return list(zip(read.tokens, read.token_logprobs, read.top_logprobs, read.text_offset, strict=True))


def test_the_tokens_of_a_prompt_are_scored_as_they_are_when_they_are_drawn(create):
    drawn = create(prompt=STORY, max_tokens=6, logprobs=2).choices[0]
    told = create(prompt=STORY, max_tokens=6, logprobs=2, echo=True).choices[0]
    read = create(prompt=STORY + drawn.text, max_tokens=0, logprobs=2, echo=True).choices[0]
    assert told.text == read.text == STORY + drawn.text
    for choice in (told, read):
        assert choice.logprobs.tokens[-6:] == drawn.logprobs.tokens
        assert choice.logprobs.token_logprobs[-6:] == pytest.approx(drawn.logprobs.token_logprobs, abs=1e-3)
        assert choice.logprobs.text_offset[-6:] == [len(STORY) + place for place in drawn.logprobs.text_offset]


def test_nothing_predicts_the_first_token(create):
    first, second, *_ = entries(create(prompt=PROMPT, max_tokens=1, logprobs=1, echo=True).choices[0])
    assert first[1:] == (None, None, 0)
    assert second[1] < 0
    assert second[3] == len(first[0])


def test_a_drawn_token_is_told_to_be_the_most_likely_by_equal_numbers(create):
    """So do harnesses find out whether a continuation is the greedy one."""
    text = create(prompt=PROMPT, max_tokens=5).choices[0].text
    told = create(prompt=PROMPT, max_tokens=5, logprobs=1, echo=True).choices[0]
    assert told.text.endswith(text)
    assert all(logprob == max(top.values()) for _, logprob, top, _ in entries(told)[-5:])


def test_prompts_in_a_batch_are_scored_as_each_alone_and_what_they_share_is_computed_once(server, create):
    server.seen()
    batch = create(prompt=OTHERS, max_tokens=0, logprobs=1, echo=True)
    computed = sum(event.computed_tokens for event in server.seen() if isinstance(event, PassCompleted))
    assert computed == len({tuple(prompt[:end]) for prompt in OTHERS for end in range(1, len(prompt) + 1)})
    assert [choice.finish_reason for choice in batch.choices] == ["length"] * len(OTHERS)
    for choice, prompt in zip(batch.choices, OTHERS, strict=True):
        alone = create(prompt=prompt, max_tokens=0, logprobs=1, echo=True).choices[0]
        assert choice.logprobs.tokens == alone.logprobs.tokens
        assert choice.logprobs.token_logprobs[1:] == pytest.approx(alone.logprobs.token_logprobs[1:], abs=1e-3)


def test_a_long_prompt_is_scored_in_pieces(create):
    prompt = [3 + place % 500 for place in range(300)]
    read = create(prompt=prompt, max_tokens=0, logprobs=0, echo=True).choices[0].logprobs
    assert len(read.token_logprobs) == 300
    assert all(logprob < 0 for logprob in read.token_logprobs[1:])


def test_a_stream_begins_with_the_prompt_and_its_scores(create):
    whole = create(prompt=PROMPT, max_tokens=3, logprobs=1, echo=True, n=2)
    chunks = list(create(prompt=PROMPT, max_tokens=3, logprobs=1, echo=True, n=2, stream=True))
    for choice in whole.choices:
        parts = [chunk.choices[0] for chunk in chunks if chunk.choices[0].index == choice.index]
        assert "".join(part.text for part in parts) == choice.text
        assert [one for part in parts if part.logprobs for one in entries(part)] == entries(choice)


def test_a_prompt_is_echoed_alone(create):
    told = create(prompt=PROMPT, max_tokens=0, echo=True)
    assert (told.choices[0].logprobs, told.usage.completion_tokens) == (None, 0)
    with pytest.raises(openai.BadRequestError, match="without echo, at least 1"):
        create(prompt=PROMPT, max_tokens=0)
