"""A conversation. Every turn adds to the same pages, so nothing that was said is computed again."""

from inferlet import Context, Model, Sampler, chat, errors, reasoning, runtime, session

FORGOTTEN = "(The conversation got longer than the model can read: its older half is forgotten.)\n"
TOO_LONG = "(That is longer than the model can read: leave something out.)\n"
FULL = (errors.ContextLengthError, errors.OutOfPagesError)


async def main(input):
    """Answer `question` where there is one, and every message that comes; the last answer is returned to a program."""
    talk, said = Talk(Model.load(runtime.models()[0]), input), ""
    if input["prompts"]:
        session.send(f"{talk.model.name}. Ctrl-D ends the conversation.\n")
    async for text in turns(input["question"], input["prompts"]):
        try:
            said = await talk.answer(text)
        except FULL:
            if not input["prompts"]:
                raise
            talk.forget()
            session.send(TOO_LONG)
    return None if input["prompts"] else said


class Talk:
    """What was said, on one context. Where that is full, the older half is forgotten."""

    def __init__(self, model, input):
        self.model, self._input, self._turns = model, input, []
        self._begin()

    def _begin(self):
        self._context = Context(self.model)
        if self._input["system"]:
            self._context.system(self._input["system"])
        for asked, said in self._turns:
            self._context.user(asked).assistant(said)

    def forget(self):
        """Begin anew with the later half of the turns."""
        self._context.release()
        del self._turns[: (len(self._turns) + 1) // 2]
        self._begin()

    async def answer(self, text):
        """Raises one of FULL for a text that does not fit by itself."""
        while True:
            try:
                said = await answer(self._context.user(text), self._input)
                break
            except FULL:
                if not self._turns:
                    raise
                self.forget()
                session.send(FORGOTTEN)
        self._context.seal()
        self._turns.append((text, said))
        return said


async def turns(question, prompts):
    """What the user says, until nobody will say more."""
    if question:
        yield question
    while True:
        if prompts:
            session.send("> ")
        try:
            text = await session.receive()
        except errors.SessionClosedError:
            return
        if text.strip():
            yield text


async def answer(context, input):
    """Stream the model's turn: what it thinks first, between two lines that say so, then what it says, the result."""
    thoughts, words, page = reasoning.Decoder(context.model), chat.Decoder(context.model), Page()
    sampler = Sampler(input["temperature"], p=input["top_p"])
    async for step in context.generate(sampler, max_tokens=input["max_tokens"]):
        tokens = (await step.execute()).tokens
        page.show(thoughts, thoughts.feed(tokens))
        page.show(words, words.feed(tokens))
    page.show(thoughts, thoughts.finish())
    page.show(words, words.finish())
    page.line()
    return page.said


class Page:
    """Sends text without the empty lines that models put around their thoughts."""

    def __init__(self):
        self.said = ""
        self._last = "\n"
        self._begins = True

    def show(self, decoder, event):
        """Send the text of an event, and of those behind it."""
        while not isinstance(event, chat.Event.Idle | reasoning.Event.Idle):
            match event:
                case reasoning.Event.Delta(text=text):
                    self._write(text)
                case chat.Event.Delta(text=text) | chat.Event.Done(tail=text):
                    self.said += self._write(text)
                case reasoning.Event.Start():
                    self.line("Thinking ...\n")
                case reasoning.Event.End():
                    self.line("... done thinking.\n\n")
            event = decoder.feed([])

    def line(self, text=""):
        """Begin a new line, with `text` on it, behind which empty lines are left out."""
        self._write(text if self._last == "\n" else "\n" + text)
        self._begins = True

    def _write(self, text):
        text = text.lstrip("\n") if self._begins else text
        if text:
            session.send(text)
            self._last, self._begins = text[-1], False
        return text
