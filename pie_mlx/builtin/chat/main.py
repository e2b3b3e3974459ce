"""A conversation. Every turn adds to the same pages, so nothing that was said is computed again."""

from inferlet import Context, Model, Sampler, chat, errors, reasoning, runtime, session


async def main(input):
    """Answer `question` where there is one, and every message that comes; the last answer is returned to a program."""
    model, said = Model.load(runtime.models()[0]), ""
    with Context(model) as context:
        if input["system"]:
            context.system(input["system"])
        async for text in turns(input["question"], input["prompts"]):
            said = await answer(context.user(text), input)
            context.seal()
    return None if input["prompts"] else said


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
