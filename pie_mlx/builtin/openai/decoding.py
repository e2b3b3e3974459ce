"""From the tokens of a reply to its text, calls and log-probabilities, and to where it stops or may go on."""

import json
import math
import re
from dataclasses import dataclass, field

from inferlet import brle, chat, reasoning, tools


@dataclass
class Decoded:
    """The decoded parts of some tokens. `begins_call`: a tool call is being written."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    begins_call: bool = False

    def add(self, more):
        self.text += more.text
        self.reasoning += more.reasoning
        self.calls += more.calls
        self.begins_call = self.begins_call or more.begins_call


class ReplyDecoder:
    """The decoders of one reply. `schemas` are the tools that may be called.

    While there is only visible text, the other decoders get the tokens later, in one feed: for most replies that saves
    most of the work, because each of them reads every token.
    """

    def __init__(self, model, schemas):
        self._model = model
        self._formats = formats = model.info.formats
        self._names = [_name(json.loads(schema)) for schema in schemas]
        self._offers = bool(schemas)
        self._text = chat.Decoder(model)
        self._reasoning = reasoning.Decoder(model) if formats.reasoning or formats.channels else None
        self._calls = tools.Decoder(model, schemas) if formats.tools or formats.channels else None
        self.thinks = formats.reasoning is not None and formats.reasoning.opened_by_cue
        self._was_plain = False
        # Blanks before and between calls are no content. They wait for the text that makes them some.
        self._blanks, self._holds_blanks, self._called = "", self._offers, False
        self._unfed = []
        self._reply = []

    def feed(self, tokens):
        """Decode more tokens."""
        said = Decoded()
        self._reply += tokens
        self._unfed += tokens
        visible = self._add_text(said, self._text.feed(tokens))
        # With tools on offer a call may need its constraint from its first token on.
        is_plain = visible and not self.thinks and not self._offers
        if not (is_plain and self._was_plain):
            self._feed_others(said)
        self._was_plain = is_plain
        said.text = self._without_blanks(said)
        return said

    def finish(self, *, is_cut=False):
        """The parts held back until the end of the reply. A reply that `is_cut` may have ended inside a call."""
        said, held = self.feed([]), Decoded()
        self._add_text(held, self._text.finish())
        self._add_others(said, lambda decoder: decoder.finish())
        calls = self._unfinished(held.text) if is_cut and self._offers else None
        said.add(held if calls is None else Decoded(calls=calls))
        said.text = self._without_blanks(said)
        if calls is None and not self._called:
            said.text += self._blanks
        return said

    def _without_blanks(self, said):
        """The text of these tokens that is content for certain."""
        text = self._blanks + said.text
        is_blank = self._holds_blanks and not text.strip()
        self._blanks = text if is_blank else ""
        self._called = self._called or bool(said.calls)
        self._holds_blanks = is_blank or bool(said.calls)
        return "" if is_blank else text

    def _unfinished(self, text):
        """The calls in which the reply ended, with `text` held back; None if it ended outside a call."""
        if self._formats.channels:
            return unfinished_message(self._model.tokenizer().decode(self._reply), self._names)
        return unfinished_calls(self._formats.tools, text, self._names) if self._formats.tools else None

    def _add_text(self, said, event):
        """Add the events of the text decoder; returns whether they are only visible text."""
        visible = not _is_idle(event)
        while not _is_idle(event):
            match event:
                case chat.Event.Delta(text=text):
                    said.text += text
                case chat.Event.Done(tail=text):
                    said.text += text
                    visible = False
                case _:
                    visible = False
            event = self._text.feed([])
        return visible

    def _feed_others(self, said):
        tokens, self._unfed = self._unfed, []
        if tokens:
            self._add_others(said, lambda decoder: decoder.feed(tokens))

    def _add_others(self, said, ask):
        for event in _events(self._reasoning, ask):
            match event:
                case reasoning.Event.Start():
                    self.thinks = True
                case reasoning.Event.Delta(text=text):
                    said.reasoning += text
                case reasoning.Event.End():
                    self.thinks = False
        for event in _events(self._calls, ask):
            match event:
                case tools.Event.Start():
                    said.begins_call = True
                case tools.Event.Call(name=name, args=arguments):
                    self._add_call(said, name, arguments)

    def _add_call(self, said, name, arguments):
        """Add a call; without tools on offer it becomes text, so that it is not lost."""
        if self._offers:
            said.calls.append((name, arguments))
        else:
            said.text += f'{{"name": "{name}", "arguments": {arguments}}}'


def _name(schema):
    return schema.get("function", schema)["name"]


def _events(decoder, ask):
    if decoder is None:
        return
    event = ask(decoder)
    while not _is_idle(event):
        yield event
        event = decoder.feed([])


def _is_idle(event):
    return type(event).__name__ == "Idle"


AS_JSON = {"command", "deepseek", "granite", "hermes", "kimi", "llama", "longcat", "mistral", "nemotron"}
"""The styles of calls whose arguments are JSON, as in the interface; partial arguments of others are left out."""
_BARE = re.compile(r'\s*(?:\[|\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*")')
_ENDS = re.compile(r"<\|(?:start|end|channel)\|>")
_RECIPIENT = re.compile(r"to=functions\.([\w.\-]+)")


def unfinished_calls(tools, text, names):
    """The calls of tools with these `names` in the last `text` of a reply; None where it is not a call but a text."""
    opening = next((opening for opening in tools.openings if text.startswith(opening)), None)
    if opening is not None:
        return _calls(tools.style, text.removeprefix(opening), names)
    bare = _BARE.match(text) if tools.bare and text.lstrip().startswith(tools.bare) else None
    if bare is None or not _could_name(text[bare.end() :], names):
        return None
    return _calls(tools.style, text, names)


def unfinished_message(text, names):
    """The same for a model that writes messages with headers; `text` is its whole reply."""
    head, _, arguments = text.rpartition("<|message|>")
    recipient = _RECIPIENT.search(re.split(r"<\|(?:start|end|message)\|>", head)[-1])
    if recipient is None or _ENDS.search(arguments):
        return None
    return [(recipient[1], arguments)] if recipient[1] in names else []


def _could_name(text, names):
    """Whether a text begins with one of the names, or is the beginning of one."""
    said = re.match(r"[\w.\-]*", text)[0]
    return said in names or (said == text != "" and any(name.startswith(said) for name in names))


def _calls(style, text, names):
    found, end = [], 0
    while name := _name_pattern(names).search(text, end):
        arguments = _arguments(text, name.end()) if style in AS_JSON else ""
        found.append((name[1], arguments))
        if not arguments:
            break
        end = text.index(arguments, name.end()) + len(arguments)
    return found


def _name_pattern(names):
    """A whole name that is not a key, because a tool may be called `name`."""
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf'(?<!\w)({one})(?=[^\w.\-])(?!"?\s*[:=](?!\d))')


def arguments_object(text):
    """The arguments of a call as an object, an empty one where they were cut short."""
    try:
        found = json.loads(text)
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


def _arguments(text, start):
    """The JSON object that begins after `start`, as much of it as was written."""
    begin = text.find("{", start)
    if begin < 0:
        return ""
    try:
        _, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        return text[begin:]
    return text[begin:end]


class StopTexts:
    """Releases text up to the first stop string; a possible beginning of one is held back.

    `fed` and `given` count the characters so far. `found` is the stop string that came, None before that.
    """

    def __init__(self, stops):
        self._stops = stops
        self._held = ""
        self.fed = self.given = 0
        self.found = None

    def feed(self, text):
        """The text that is certain; nothing after `found`."""
        if self.found:
            return ""
        self.fed += len(text)
        self._held += text
        if not self._stops:
            return self._give(len(self._held))
        places = [(place, stop) for stop in self._stops if (place := self._held.find(stop)) >= 0]
        if places:
            place, self.found = min(places)
            return self._give(place)
        return self._give(len(self._held) - self._suspicious())

    def cuts_at(self, place):
        """Whether text that begins at `place` is not released, or not yet."""
        return bool(self._stops) and place >= self.given

    def finish(self):
        """The text that was held back, at the end."""
        return "" if self.found else self._give(len(self._held))

    def _give(self, length):
        given, self._held = self._held[:length], self._held[length:]
        self.given += length
        return given

    def _suspicious(self):
        """The length of the suffix that could begin a stop string."""
        longest = min(max(map(len, self._stops)) - 1, len(self._held))
        lengths = range(longest, 0, -1)
        return next((n for n in lengths if any(stop.startswith(self._held[-n:]) for stop in self._stops)), 0)


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
    """The entry of a token, with the most likely ones if they were requested. If it is one of them, the numbers are the
    same: harnesses find out so whether it was the most likely."""
    likely = zip(*distribution, strict=True) if distribution else ()
    top = [
        vocabulary.entry(other, logprob if other == token else math.log(share)) for other, share in likely if share > 0
    ]
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


class Alternatives:
    """A constraint that allows the tokens of any of several matchers. `accept_tokens` drops the matchers that forbid
    them; `decided` is the only remaining matcher, None while there are several."""

    def __init__(self, matchers):
        self._left = matchers

    @property
    def decided(self):
        return self._left[0] if len(self._left) == 1 else None

    def accept_tokens(self, tokens):
        self._left = [matcher for matcher in self._left if _accepts(matcher, tokens)]

    def step(self, accepted):
        """The mask after the tokens accepted so far, which `accepted` repeats."""
        masks = [matcher.next_token_logit_mask() for matcher in self._left]
        return brle.spans(*(span for mask in masks for span in _allowed(mask))) if all(masks) else []


def _allowed(mask):
    """The spans of tokens that a mask allows."""
    end = 0
    for place, length in enumerate(mask):
        start, end = end, end + length
        if place % 2:
            yield start, end


def _accepts(matcher, tokens):
    try:
        matcher.accept_tokens(tokens)
    except Exception as error:
        if getattr(error, "code", "") != "grammar_rejected":
            raise
        return False
    return True
