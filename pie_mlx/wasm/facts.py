"""What is known of a component before it runs."""

import msgspec


class Facts(msgspec.Struct, frozen=True):
    """How a component is started, and which of its imports end it when called."""

    runs: bool
    handles: bool
    refused: list[str] = []
