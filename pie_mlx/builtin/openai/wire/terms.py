"""The names that an endpoint has for the parts of a chat, for the errors it sends."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Terms:
    """Names of fields. `places` are the indexes of the messages in the request, where they differ."""

    messages: str
    format: str
    strict: str
    call: str
    effort: str
    places: list[int] | None = None

    def message(self, place):
        """The path of the message at this place in the request."""
        return f"{self.messages}[{place if self.places is None else self.places[place]}]"


CHAT = Terms("messages", "response_format", "tools[].function.strict", "tool_call_id", "reasoning_effort")
