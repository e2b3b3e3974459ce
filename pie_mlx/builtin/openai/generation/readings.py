"""How likely tokens were."""

import math

_known = {}


class Vocabulary:
    """The bytes of tokens. Read once of each model, for as long as this program stays loaded."""

    def __init__(self, model):
        if model.name not in _known:
            ids, texts = model.tokenizer().vocabs()
            _known[model.name] = dict(zip(ids, texts, strict=True))
        self._bytes = _known[model.name]

    def bytes_of(self, token):
        return self._bytes.get(token, b"")

    def entry(self, token, logprob):
        """A token as the interface describes it."""
        data = self.bytes_of(token)
        return {"token": data.decode(errors="replace"), "logprob": logprob, "bytes": list(data)}


def reading(vocabulary, token, logprob, distribution):
    """The drawn token, and the most likely ones where they were asked for."""
    likely = zip(*distribution, strict=True) if distribution else ()
    top = [vocabulary.entry(other, math.log(share)) for other, share in likely if share > 0]
    return {**vocabulary.entry(token, logprob), "top_logprobs": top}


class Readings:
    """The readings of tokens whose text is given out, also where `stops` cut off its end.

    A token's text begins where the text taken before it ended.
    """

    def __init__(self, stops):
        self._stops = stops
        self._waiting = []

    def add(self, readings):
        """Those of the next tokens, before their text is taken."""
        self._waiting += [(self._stops.taken, one) for one in readings]

    def certain(self):
        """Those that no stop text can take back."""
        count = sum(not self._stops.cuts_at(place) for place, _ in self._waiting)
        found, self._waiting = self._waiting[:count], self._waiting[count:]
        return [one for _, one in found]

    def finish(self):
        """The text has ended."""
        if self._stops.found:
            return self.certain()
        return [one for _, one in self._waiting]
