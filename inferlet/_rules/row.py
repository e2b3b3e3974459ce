"""What a rule sees of the row that it changes."""

from collections.abc import Iterable
from math import log

from inferlet._rules.values import Number, Tracer, Value, floating, minimum
from pie_mlx.calls import FORBIDDEN


class Row:
    """One row of logits and what is known of it.

    With `@rule(candidates=n)` a row holds the n most likely tokens, the likeliest first, instead of the vocabulary.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @property
    def logits(self) -> Value:
        """The logits after penalties and masks, -1e30 for tokens that may not be drawn."""
        return self._tracer.add("logits")

    @property
    def log_probabilities(self) -> Value:
        """Their natural log-probabilities at temperature 1, among all tokens."""
        return self.logits - self._tracer.add("log_total")

    @property
    def probabilities(self) -> Value:
        """Their probabilities at temperature 1, among all tokens."""
        return self.log_probabilities.exp()

    @property
    def entropy(self) -> Value:
        """In nats, one number; of the candidates alone where there are any."""
        return -(self.probabilities * self.log_probabilities).sum()

    @property
    def tokens(self) -> Value:
        """The token ids, a row of integers."""
        return self._tracer.add("token")

    @property
    def previous(self) -> Value:
        """The token that the row continues, an integer."""
        return self._tracer.add("previous")

    @property
    def drawn(self) -> Value:
        """The token that is drawn from the new row, an integer: for states alone."""
        return self._tracer.add("drawn")

    @property
    def allowed(self) -> Value:
        """Which tokens may be drawn, a row of conditions."""
        return self.logits > FORBIDDEN / 10

    @property
    def seen(self) -> Value:
        """Which tokens the text has, a row of conditions."""
        return self._tracer.add("seen")

    @property
    def generated(self) -> Value:
        """How often each token was generated since the Generator began, a row."""
        return self._tracer.add("generated")

    @property
    def repeated(self) -> Value:
        """How many of the text's last tokens stood before an earlier occurrence of each token, the longest such match:
        what the token would repeat. At most 50, of the last 1,024 tokens; a row. `RuleUse.broken_at` names tokens at
        which repetitions end."""
        return self._tracer.add("repeated")

    @property
    def random(self) -> Value:
        """A number of [0, 1) of the context's own random stream, another one than that of the draw."""
        return self._tracer.add("random")

    @property
    def hidden_state(self) -> Value:
        """The row's final hidden state after the last norm, as the output head gets it: a vector as wide as the model.
        What a `HiddenState` probe reads."""
        return self._tracer.add("hidden")

    def vector(self, values: Iterable[float]) -> Value:
        """A constant vector. All constants of a rule have at most 65,536 numbers."""
        return self._tracer.vector(values)

    def constant(self, value: Number) -> Value:
        """A number as a value, for what a number has no methods for: `row.constant(2).log()`."""
        return floating(self._tracer, value)

    def surprise(self) -> Value:
        """The negative log-probability of each token in bits, at most 1e30."""
        return minimum(self.log_probabilities * (-1 / log(2)), -FORBIDDEN)
