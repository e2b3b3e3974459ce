"""Token lists that know which turn of a conversation they write."""

from inferlet.model import Model, checked_model
from pie_mlx.calls import ChatState, Encode, RenderTurn, Turn


class TurnTokens(list[int]):
    """The tokens of a turn on its own. `ctx.append` renders `turn` again at its point of the conversation, so that the
    joints (a pending line break, a begin-of-sequence that is not repeated) are as in the template."""

    def __init__(self, tokens: list[int], turn: Turn) -> None:
        super().__init__(tokens)
        self.turn = turn


def write_turn(model: Model, turn: Turn, state: ChatState) -> TurnTokens:
    """The turn after `state`, with everything the template would write later. Raises TemplateError."""
    rendered = checked_model(model).host.call(RenderTurn(model.name, turn, state, model.template))
    tokens = rendered.tokens
    if rendered.state.held:
        tokens = tokens + model.host.call(RenderTurn(model.name, Turn("flush"), rendered.state, model.template)).tokens
    elif rendered.state.due:
        tokens = tokens + model.host.call(Encode(model.name, rendered.state.due))
    return TurnTokens(tokens, turn)
