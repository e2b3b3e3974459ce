"""What a rule sees of the row of another context."""

from inferlet._rules.values import Tracer, Value


class OtherRow:
    """The row of logits of another context, which computes the same token as the row that the rule changes.

    Before penalties and masks. With `@rule(candidates=n)` it has the tokens of the row that is changed, in their order.
    """

    def __init__(self, tracer: Tracer, name: str) -> None:
        self._tracer, self._name = tracer, name

    @property
    def logits(self) -> Value:
        """The logits that the other context gives, -1e30 for tokens that the model never gives."""
        return self._tracer.add("other_logits", name=self._name)

    @property
    def log_probabilities(self) -> Value:
        """Their natural log-probabilities at temperature 1, among all tokens."""
        return self.logits - self._tracer.add("other_log_total", name=self._name)

    @property
    def probabilities(self) -> Value:
        """Their probabilities at temperature 1, among all tokens."""
        return self.log_probabilities.exp()

    @property
    def hidden_state(self) -> Value:
        """The final hidden state of the other row, as `Row.hidden_state`."""
        return self._tracer.add("other_hidden", name=self._name)

    @property
    def entropy(self) -> Value:
        """In nats, one number; of the candidates alone where there are any."""
        return -(self.probabilities * self.log_probabilities).sum()
