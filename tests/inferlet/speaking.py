"""Models that speak: decoders fed with what such a model would write."""

import random
from collections.abc import Sequence
from typing import Any

from inferlet import Model
from inferlet._calls.host import HostLink
from inferlet.chat import Decoder
from pie_mlx import calls
from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from tests.inferlet.speaking_host import SpeakingHost


def speaking_model(tokenizer: Tokenizer, formats: calls.Formats | None = None) -> Model:
    """A model whose formats are read off its template, or given."""
    host = SpeakingHost(ChatRenderer(tokenizer))
    info: calls.ModelInfo = host.call(calls.LoadModel("m"))
    if formats is not None:
        info = calls.ModelInfo("m", info.vocabulary_size, 16, 4096, formats)
    return Model(info, HostLink(host))


def cuts(tokens: Sequence[int], seed: int) -> list[list[int]]:
    """The tokens in random batches, some of them empty."""
    source, batches, rest = random.Random(seed), [], list(tokens)
    while rest:
        size = source.randrange(4)
        batches.append(rest[:size])
        rest = rest[size:]
    return batches


def events(decoder: Any, batches: Sequence[Sequence[int]], *, drain: bool = True) -> list[Any]:
    """Every event but Idle; with `drain` the queue is emptied at the end."""
    found = [decoder.feed(batch) for batch in batches]
    while drain and type(event := decoder.feed([])).__name__ != "Idle":
        found.append(event)
    return [event for event in found if type(event).__name__ != "Idle"]


def shown(model: Model, text: str, *, stop: bool = True) -> str:
    """The visible text of a reply, as the chat decoder ends it."""
    tokens = model.tokenizer().encode(text)
    decoder = Decoder(model)
    ending = model.info.formats.stop_tokens[:1] if stop else []
    return events(decoder, [[*tokens, *ending]])[-1].text
