"""The date that a template tells the model: that of the conversation's beginning."""

from datetime import datetime

import pytest

from pie_mlx.calls import ChatState, Turn
from pie_mlx.engine.text.conversation.chats import MOST_KEPT, Chats
from pie_mlx.engine.text.steps import all_steps
from pie_mlx.errors import InvalidArgumentError
from tests.engine.text import chat_templates

from .conftest import Factory

CHAT = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
CUE = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
DAYS = "{{ 'Today is ' + strftime_now('%d %b %Y') + '\n' }}" + CHAT + CUE
MINUTES = "{{ strftime_now('It is %H:%M on %Y-%m-%d') + '\n' }}" + CHAT + CUE
LLAMA = (
    "{% if not date_string is defined %}{% set date_string = '26 Jul 2024' %}{% endif %}{{ date_string }}\n"
    + CHAT
    + CUE
)
COUNTED = "{{ strftime_now('%Y-%m-%d') + '\n' }}" + chat_templates.COUNTS_TURNS


class Clock:
    """A wall clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 26, 23, 59, 31, 5)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def written(chats: Chats, *turns: Turn, state: ChatState | None = None, variables: str = "") -> tuple[str, ChatState]:
    tokens, state = list[int](), state or ChatState()
    for turn in turns:
        rendered = all_steps(chats.rendering(variables, turn, state))
        tokens, state = tokens + rendered.tokens, rendered.state
    return chats.plain.tokenizer.decode(tokens), state


HELLO, CUE_TURN = Turn("user", "Hello"), Turn("cue")


@pytest.mark.parametrize(
    ("template", "date"),
    [(DAYS, "26 Nov 2026"), (MINUTES, "23:59 on 2026-11-26"), (LLAMA, "26 Nov 2026"), (COUNTED, "2026-11-26")],
)
def test_the_model_is_told_when_the_conversation_began(make_tokenizer: Factory, clock: Clock, template: str, date: str):
    assert date in written(Chats(make_tokenizer(template), clock=clock), HELLO, CUE_TURN)[0]


def test_a_conversation_keeps_its_date_after_midnight(make_tokenizer: Factory, clock: Clock):
    chats = Chats(make_tokenizer(DAYS), clock=clock)
    held, state = written(chats, Turn("system", "Be brief."))
    assert held == ""
    clock.now = datetime(2026, 11, 27)
    assert "26 Nov" in written(chats, HELLO, CUE_TURN, state=state)[0]
    assert "27 Nov" in written(chats, HELLO, CUE_TURN)[0]


def test_a_template_that_is_rendered_again_for_each_turn_keeps_the_date_as_well(make_tokenizer: Factory, clock: Clock):
    chats = Chats(make_tokenizer(COUNTED), clock=clock)
    _, state = written(chats, HELLO, CUE_TURN, Turn("seal"))
    clock.now = datetime(2026, 11, 27)
    assert written(chats, Turn("user", "Again"), CUE_TURN, state=state)[0].count("2026") == 0


@pytest.mark.parametrize(
    ("template", "later", "equal"), [(DAYS, (8, 30), True), (MINUTES, (23, 59), True), (MINUTES, (8, 30), False)]
)
def test_conversations_share_their_beginning_as_long_as_the_template_tells_the_same_time(
    make_tokenizer: Factory, clock: Clock, template: str, later: tuple[int, int], equal: bool
):
    chats = Chats(make_tokenizer(template), clock=clock)
    first = written(chats, HELLO)
    clock.now = datetime(2026, 11, 26, *later, 59)
    assert (written(chats, HELLO) == first) is equal


def test_a_template_without_a_date_leaves_the_state_without_one(make_tokenizer: Factory, clock: Clock):
    chats = Chats(make_tokenizer(CHAT + CUE), clock=clock)
    assert written(chats, HELLO)[1].began == ""
    assert "date" not in chats.plain.template.variables


@pytest.mark.parametrize("template", [DAYS, MINUTES, LLAMA])
@pytest.mark.parametrize("date", ["2024-02-29", "2024-02-29T09:30"])
def test_a_program_may_set_the_date(make_tokenizer: Factory, clock: Clock, template: str, date: str):
    chats = Chats(make_tokenizer(template), clock=clock)
    assert "date" in chats.plain.template.variables
    text, _ = written(chats, HELLO, variables=f'{{"date": "{date}"}}')
    assert "2024" in text
    assert "2026" not in text


@pytest.mark.parametrize("date", ['"tomorrow"', "20240229", '"2023-02-29"', "null"])
def test_a_date_that_is_none_is_refused(make_tokenizer: Factory, date: str):
    with pytest.raises(InvalidArgumentError, match="date is"):
        written(Chats(make_tokenizer(DAYS)), HELLO, variables=f'{{"date": {date}}}')


def test_a_state_with_a_date_that_is_none_is_refused(make_tokenizer: Factory):
    with pytest.raises(InvalidArgumentError, match="date is 'x'"):
        written(Chats(make_tokenizer(DAYS)), HELLO, state=ChatState(began="x"))


def test_renderers_of_past_days_are_given_up(make_tokenizer: Factory, clock: Clock):
    chats = Chats(make_tokenizer(DAYS), clock=clock)
    first = chats.of("", "2026-01-01T00:00:00")
    for year in range(1000, 1000 + MOST_KEPT):
        chats.of("", f"{year}-01-01T00:00:00")
    assert chats.of("", "2026-01-01T00:00:00") is not first
