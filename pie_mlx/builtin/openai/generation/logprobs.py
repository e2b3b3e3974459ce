"""The log-probabilities of tokens, as the interface describes them."""

import math

_known = {}


class Vocabulary:
    """The bytes of tokens, requested once per model while this program stays loaded."""

    def __init__(self, model):
        if model.name not in _known:
            ids, texts = model.tokenizer().vocabs()
            _known[model.name] = dict(zip(ids, texts, strict=True))
        self._bytes = _known[model.name]

    def bytes_of(self, token):
        return self._bytes.get(token, b"")

    def entry(self, token, logprob):
        """A token in the form of the interface."""
        data = self.bytes_of(token)
        return {"token": data.decode(errors="replace"), "logprob": logprob, "bytes": list(data)}


def logprob_entry(vocabulary, token, logprob, distribution):
    """The entry of a drawn token, with the most likely ones if they were requested."""
    likely = zip(*distribution, strict=True) if distribution else ()
    top = [vocabulary.entry(other, math.log(share)) for other, share in likely if share > 0]
    return {**vocabulary.entry(token, logprob), "top_logprobs": top}


class EntryBuffer:
    """The entries of tokens whose text is sent, at least in part, where `stops` may cut off its end.

    A token's text begins where the text fed before it ended.
    """

    def __init__(self, stops):
        self._stops = stops
        self._waiting = []

    def add(self, entries):
        """Add the entries of the next tokens, before their text is fed."""
        self._waiting += [(self._stops.fed, one) for one in entries]

    def certain(self):
        """Return the entries that no stop text can cut off any more."""
        count = sum(not self._stops.cuts_at(place) for place, _ in self._waiting)
        found, self._waiting = self._waiting[:count], self._waiting[count:]
        return [one for _, one in found]

    def finish(self):
        """Return the remaining entries at the end of the text."""
        if self._stops.found:
            return self.certain()
        return [one for _, one in self._waiting]
