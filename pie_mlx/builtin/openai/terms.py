"""An interface's names for the parts of a chat, for refusals."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Terms:
    """The names of fields. `places` are the messages' places in the request, if they differ."""

    messages: str
    format: str
    strict: str
    call: str
    effort: str
    places: list[int] | None = None

    def message(self, place):
        """The place of a message in the request."""
        return f"{self.messages}[{place if self.places is None else self.places[place]}]"


CHAT = Terms("messages", "response_format", "tools[].function.strict", "tool_call_id", "reasoning_effort")
