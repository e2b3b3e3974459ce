"""The output of a response: its items and their events, and the responses that are kept."""

import time
from dataclasses import asdict, dataclass

import msgspec
from choices import Progress
from wire import EventForm, identifier

TEXTS = {
    "reasoning": ("rs", {"summary": []}, {"type": "reasoning_text"}),
    "message": ("msg", {"role": "assistant"}, {"type": "output_text", "annotations": []}),
}
"""Of each kind of item that is one text: the beginning of its ids, its fields, and those of its part."""


class Output:
    """The items of a response, in order; the last one may be in progress. Methods give the events of what they do."""

    def __init__(self):
        self.items, self._texts, self._entries, self._waiting = [], [], [], []

    def add(self, piece):
        """Add one part of the reply."""
        yield from self._extend("reasoning", piece.reasoning, [])
        yield from self._extend("message", piece.text, self._placed(piece))
        for name, arguments in piece.calls:
            self._waiting = []
            call = {"call_id": identifier("call"), "name": name, "arguments": ""}
            yield from self._begin("fc", "function_call", call)
            self.items[-1]["arguments"] = arguments
            yield self._event("function_call_arguments.delta", delta=arguments)
        if piece.finish and not self.items:
            # Clients expect a message, even in an empty reply.
            yield from self._begin_text("message")
        if piece.finish or piece.calls:
            yield from self.close("incomplete" if piece.finish == "length" else "completed")

    def close(self, status):
        """End the item in progress, if there is one."""
        if not self._is_open():
            return []
        item = self.items[-1]
        item["status"] = status
        if item["type"] == "function_call":
            ending = [self._event("function_call_arguments.done", arguments=item["arguments"])]
        else:
            text = "".join(self._texts)
            item["content"] = [self._part(text, self._entries)]
            ending = [self._text_event("done", self._entries, text=text), self._part_event("done", *item["content"])]
        return [*ending, self._item_event("done")]

    def _extend(self, kind, text, entries):
        """More of the item in progress, or the next one."""
        if text and not self._is_open(kind):
            yield from self._begin_text(kind)
        if text or (entries and self._is_open(kind)):
            self._texts.append(text)
            self._entries += entries
            yield self._text_event("delta", entries, delta=text)

    def _placed(self, piece):
        """The logprobs of the text. Those before its beginning wait for it; those of a call are dropped."""
        entries = [*self._waiting, *piece.entries]
        self._waiting = [] if piece.text or self._is_open("message") else entries
        return [] if self._waiting else entries

    def _begin(self, prefix, kind, fields):
        yield from self.close("completed")
        self.items.append({"id": identifier(prefix), "status": "in_progress", "type": kind, **fields})
        yield self._item_event("added")

    def _begin_text(self, kind):
        prefix, fields, _ = TEXTS[kind]
        yield from self._begin(prefix, kind, {**fields, "content": []})
        self._texts, self._entries = [], []
        yield self._part_event("added", self._part("", []))

    def _is_open(self, kind=None):
        last = self.items[-1] if self.items else {"status": ""}
        return last["status"] == "in_progress" and kind in (None, last["type"])

    def _part(self, text, entries):
        *_, part = TEXTS[self.items[-1]["type"]]
        return {**part, "text": text, **self._logprobs(entries)}

    def _logprobs(self, entries):
        return {"logprobs": entries} if self.items[-1]["type"] == "message" else {}

    def _item_event(self, what):
        item = dict(self.items[-1])
        return {"type": f"response.output_item.{what}", "output_index": len(self.items) - 1, "item": item}

    def _part_event(self, what, part):
        return self._event(f"content_part.{what}", content_index=0, part=part)

    def _text_event(self, what, entries, **fields):
        *_, part = TEXTS[self.items[-1]["type"]]
        return self._event(f"{part['type']}.{what}", content_index=0, **fields, **self._logprobs(entries))

    def _event(self, kind, **fields):
        place = len(self.items) - 1
        return {"type": f"response.{kind}", "item_id": self.items[place]["id"], "output_index": place, **fields}


KEPT_SECONDS = 24 * 3600.0
MOST_RESPONSES, MOST_BYTES = 1024, 64 << 20
"""What is kept at most. A conversation counts again with each of its responses."""

_encode, _decode = msgspec.json.Encoder().encode, msgspec.json.decode


@dataclass(frozen=True)
class StoredResponse:
    """The JSON of a response, and of the items that a request goes on from: its conversation, itself included."""

    response: bytes
    conversation: bytes
    item_ids: tuple[str, ...]
    kept_seconds: float

    @property
    def size_bytes(self) -> int:
        return len(self.response) + len(self.conversation)


class ResponseStore:
    """The newest responses, in memory only; the oldest one makes room. `now` is a clock in seconds."""

    def __init__(self, now=time.monotonic):
        self._now = now
        self._stored: dict[str, StoredResponse] = {}
        self._owners: dict[str, str] = {}
        self.size_bytes = 0

    def keep(self, response, items):
        """Keep a response with the items of its input."""
        ids = tuple(item["id"] for item in response["output"])
        conversation = _encode([*items, *response["output"]])
        stored = StoredResponse(_encode(response), conversation, ids, self._now())
        self._stored[response["id"]] = stored
        self._owners |= dict.fromkeys(ids, response["id"])
        self.size_bytes += stored.size_bytes
        self._make_room()

    def find(self, name) -> StoredResponse | None:
        """A response that is kept."""
        self._make_room()
        return self._stored.get(name)

    def find_item(self, name):
        """An item of the output of a response that is kept, as it was sent."""
        owner = self.find(self._owners.get(name, ""))
        output = _decode(owner.response)["output"] if owner else []
        return next((item for item in output if item["id"] == name), None)

    def delete(self, name) -> bool:
        """Forget a response; returns whether it was kept."""
        stored = self._stored.pop(name, None)
        if stored is None:
            return False
        self.size_bytes -= stored.size_bytes
        for item in stored.item_ids:
            del self._owners[item]
        return True

    def _make_room(self):
        while self._stored and self._is_full(next(iter(self._stored.values()))):
            self.delete(next(iter(self._stored)))

    def _is_full(self, oldest):
        is_old = self._now() - oldest.kept_seconds > KEPT_SECONDS
        return is_old or len(self._stored) > MOST_RESPONSES or self.size_bytes > MOST_BYTES


STORE = ResponseStore()
"""Lives as long as this program stays loaded: where each request has a process of its own, nothing is found again."""


REPEATED = (
    "max_output_tokens",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "store",
    "temperature",
    "top_logprobs",
    "top_p",
)
CODES = {400: "invalid_prompt", 429: "rate_limit_exceeded"}
"""The error codes that clients know, by HTTP status; others are server_error."""


class ResponseForm(EventForm):
    """Events are numbered in order. At its end the response is kept with the items of its input, if that is asked."""

    def __init__(self, request, items):
        self._items = items
        self._head = {
            "id": identifier("resp"),
            "object": "response",
            "created_at": int(time.time()),
            "model": request.model,
            **_settings(request),
        }
        self._output = Output()
        self._count = 0
        self._finish = None

    def whole(self, pieces):
        for piece in pieces:
            self.chunks(piece)
        return self._finished()

    def opening(self):
        begun = self._response("in_progress")
        return self._numbered({"type": f"response.{what}", "response": begun} for what in ("created", "in_progress"))

    def chunks(self, piece):
        if isinstance(piece, Progress):
            event = {"type": "response.in_progress", "response": self._response("in_progress")}
            return self._numbered([{**event, "prompt_progress": asdict(piece)}])
        self._finish = piece.finish
        return self._numbered(self._output.add(piece))

    def closing(self):
        response = self._finished()
        return self._numbered([{"type": f"response.{response['status']}", "response": response}])

    def failed(self, refusal):
        # The code of the other interfaces: a client can find out by it that a conversation has to be shortened.
        is_long = refusal.code == "context_length_exceeded"
        code = refusal.code if is_long else CODES.get(refusal.status, "server_error")
        before = self._numbered(self._output.close("incomplete")) if self._count else self.opening()
        failed = self._response("failed", error={"code": code, "message": str(refusal)})
        return before + self._numbered([{"type": "response.failed", "response": failed}])

    def _finished(self):
        figures = self.costs.figures()
        cut = {"incomplete_details": {"reason": "max_output_tokens"}} if self._finish == "length" else {}
        fields = {**cut, "usage": _usage(figures["usage"]), "timings": figures["timings"]}
        response = self._response("incomplete" if cut else "completed", **fields)
        if response["store"]:
            STORE.keep(response, self._items)
        return response

    def _response(self, status, **fields):
        unknown = {"error": None, "incomplete_details": None, "usage": None}
        return {**self._head, "status": status, "output": self._output.items, **unknown, **fields}

    def _numbered(self, events):
        found = [{**event, "sequence_number": self._count + place} for place, event in enumerate(events)]
        self._count += len(found)
        return found


def _settings(request):
    """The fields of the request that a response repeats."""
    return {
        **{name: getattr(request, name) for name in REPEATED},
        "instructions": request.instructions or None,
        "text": msgspec.to_builtins(request.text),
        "tool_choice": msgspec.to_builtins(request.tool_choice),
        "tools": msgspec.to_builtins(request.tools),
        "background": False,
        "reasoning": {"effort": request.reasoning.effort, "summary": None},
        "truncation": "disabled",
    }


def _usage(usage):
    """The usage under the names of a response."""
    return {
        "input_tokens": usage["prompt_tokens"],
        # Typed clients require the tokens written to a cache, which cost nothing here.
        "input_tokens_details": {**usage["prompt_tokens_details"], "cache_write_tokens": 0},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": usage["completion_tokens_details"],
        "total_tokens": usage["total_tokens"],
    }
