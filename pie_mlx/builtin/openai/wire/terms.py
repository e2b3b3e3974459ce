"""What an interface calls the parts of a chat, for those who read refusals."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Terms:
    """The names of fields. `places` are those of the messages in what was sent, where they are others."""

    messages: str
    format: str
    strict: str
    call: str
    effort: str
    places: list[int] | None = None

    def message(self, place):
        """Where the message at this place was sent."""
        return f"{self.messages}[{place if self.places is None else self.places[place]}]"


CHAT = Terms("messages", "response_format", "tools[].function.strict", "tool_call_id", "reasoning_effort")
