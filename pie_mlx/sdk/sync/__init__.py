"""The blocking SDK of script-style programs: everything waits until it is done, no `async` anywhere.

The engine behind it and its rules are the same as for the asynchronous SDK.
"""

from pie_mlx.sdk.grammar import Grammar
from pie_mlx.sdk.matcher import Matcher
from pie_mlx.sdk.model import Model, Tokenizer
from pie_mlx.sdk.sync import runtime, session
from pie_mlx.sdk.sync.context import Context
from pie_mlx.sdk.sync.decoder import Decoder
from pie_mlx.sdk.sync.event import Event
from pie_mlx.sdk.sync.forward_pass import ForwardPass
from pie_mlx.sdk.sync.sampler import Sampler
from pie_mlx.sdk.sync.stream import EventStream, TokenStream

__all__ = [
    "Context",
    "Decoder",
    "Event",
    "EventStream",
    "ForwardPass",
    "Grammar",
    "Matcher",
    "Model",
    "Sampler",
    "TokenStream",
    "Tokenizer",
    "runtime",
    "session",
]
