"""Calls in wordings by somebody who had seen none of the others: to measure with, never to train on.

The held-out eighth of the lists was written together with what is trained on, and its wrong answers were read by those
who add to the lists; these wordings tell how the model fares with people it has not heard.
"""

from dataclasses import replace

from tools.tiny.text.everyday import read_asks
from tools.tiny.text.sample import Sample, calling, user
from tools.tiny.text.source import Source
from tools.tiny.text.tool_use import HELDOUT_COUNTS, Offer, distinct_offers, judged_call, opening, request, schemas

INDEPENDENT_ASKS = read_asks("independent_asks.json")


def _asked_otherwise(source: Source, offer: Offer) -> Offer:
    asks = (source.any(INDEPENDENT_ASKS[offer.concept.names[0]]),)
    return replace(offer, concept=replace(offer.concept, asks=asks))


def _everyday_offers(source: Source) -> list[Offer]:
    """Different tools, at least one of them an everyday one."""
    while True:
        offers = distinct_offers(source, source.any(HELDOUT_COUNTS))
        if any(not offer.verb for offer in offers):
            return offers


def make_independent_call(seed: int, number: int) -> Sample:
    """One wish for one of up to six tools, whose names and values are held out too."""
    source = Source(f"{seed}/independent/{number}", "heldout")
    offers = _everyday_offers(source)
    wanted = source.any([offer for offer in offers if not offer.verb])
    wish = request(source, _asked_otherwise(source, wanted))
    turns = (*opening(source), user(wish.text), calling((wish.offer.name, wish.arguments)))
    return judged_call(wish, turns, schemas(source, offers))
