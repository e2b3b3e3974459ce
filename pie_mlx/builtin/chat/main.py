"""A conversation. Every turn adds to the same pages, so earlier turns are not computed again."""

import asyncio
import json
import re
import sys

from inferlet import Context, Model, Sampler, chat, errors, reasoning, runtime, session

HELP = """\
/clear     forget what was said
/bye       end the conversation, as Ctrl-D does
Ctrl-C     stop an answer
Alt-Enter  begin a new line
"""
ENDINGS = ("/bye", "/exit", "/quit")
COMMAND = re.compile(r"(/[a-z]+)(?:\s.*)?", re.DOTALL)
"""A command of other chat programs. A path has another slash."""
UNKNOWN = "(There is no {}: /? lists the commands.)\n"
FORGOTTEN = "(The conversation got longer than the model can read: its older half is forgotten.)\n"
TOO_LONG = "(That is longer than the model can read: leave something out.)\n"
NO_TEMPLATE = "has no chat template: turns are written as ChatML, which a base model was not trained on"
FULL = (errors.ContextLengthError, errors.OutOfPagesError)


async def main(input):
    """Answer `question`, or every message until the session closes; returns the last answer."""
    model = Model.load(runtime.models()[0], template=json.loads(input["template"]))
    conversation, said = Conversation(model, input), ""
    if input["question"]:
        if not model.has_chat_template:
            sys.stderr.write(f"pie: {model.name} {NO_TEMPLATE}\n")
        return await conversation.answer(input["question"])
    if input["interactive"]:
        return await converse(conversation, User())
    async for text in messages():
        said = await conversation.answer(text)
    return said


async def messages():
    """The messages of the client, until the session closes."""
    while True:
        try:
            text = await session.receive()
        except errors.SessionClosedError:
            return
        if text.strip():
            yield text


async def converse(conversation, user):
    """Take turns with the user at a terminal, until the user ends it."""
    session.send(f"{conversation.model.name}. Ctrl-D ends the conversation, /? lists the commands.\n")
    if not conversation.model.has_chat_template:
        session.send(f"({conversation.model.name} {NO_TEMPLATE}.)\n")
    while (text := await user.turn()) not in ENDINGS:
        match text:
            case "/?" | "/help":
                session.send(HELP)
            case "/clear":
                conversation.forget(everything=True)
            case _ if command := COMMAND.fullmatch(text):
                session.send(UNKNOWN.format(command[1]))
            case _:
                await reply(conversation, text, user)


async def reply(conversation, text, user):
    """Answer, until `user` sends something; or say that there is no room for the text."""
    try:
        await conversation.answer(text, user.has_sent)
    except FULL:
        conversation.forget()
        session.send(TOO_LONG)


class User:
    """The user at a terminal. Each turn is announced; any message during an answer stops it."""

    def __init__(self):
        self._receiving = None

    async def turn(self):
        """The next text; "/bye" once the session is closed."""
        session.send({"turn": "yours"})
        text = ""
        while not text.strip():
            try:
                text = await self._receive()
            except errors.SessionClosedError:
                return "/bye"
            finally:
                self._receiving = None
        return text.strip()

    def has_sent(self):
        """Whether the user has sent something since the last turn."""
        return self._receive().done()

    def _receive(self):
        self._receiving = self._receiving or asyncio.ensure_future(session.receive())
        return self._receiving


def never():
    """Let an answer run to its end."""
    return False


class Conversation:
    """The turns, on one context. When it is full, the older half is forgotten."""

    def __init__(self, model, input):
        self.model, self._input, self._turns = model, input, []
        self._begin()

    def _begin(self):
        self._context = Context(self.model)
        if self._input["system"]:
            self._context.system(self._input["system"])
        for asked, said in self._turns:
            self._context.user(asked).assistant(said)

    def forget(self, *, everything=False):
        """Start a new context, with the later half of the turns or none."""
        self._context.release()
        del self._turns[: len(self._turns) if everything else (len(self._turns) + 1) // 2]
        self._begin()

    async def answer(self, text, is_over=never):
        """Answer a text. Raises one of FULL for a text that does not fit on its own."""
        announced = False
        while True:
            try:
                said = await answer(self._context.user(text), self._input, is_over)
                break
            except FULL:
                if not self._turns:
                    raise
                self.forget()
                if not announced:
                    session.send(FORGOTTEN)
                announced = True
        self._context.seal()
        self._turns.append((text, said))
        return said


async def answer(context, input, is_over):
    """Stream the model's turn: its reasoning between two marker lines, then the answer, which is returned."""
    thoughts, words, page = reasoning.Decoder(context.model), chat.Decoder(context.model), Page()
    sampler = Sampler(input["temperature"], p=input["top_p"])
    limits = {"max_tokens": input["max_tokens"], "thinking_budget": input.get("think")}
    async for step in context.generate(sampler, **limits):
        tokens = (await step.execute()).tokens
        page.show(thoughts, thoughts.feed(tokens))
        page.show(words, words.feed(tokens))
        if is_over():
            break
    page.show(thoughts, thoughts.finish())
    page.show(words, words.finish())
    page.line()
    return page.said


class Page:
    """Sends text without the empty lines that models put around their reasoning."""

    def __init__(self):
        self.said = ""
        self._last = "\n"
        self._begins = True

    def show(self, decoder, event):
        """Send the text of an event, and of the queued events after it."""
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
        """Begin a new line with `text`; empty lines after it are left out."""
        self._write(text if self._last == "\n" else "\n" + text)
        self._begins = True

    def _write(self, text):
        text = text.lstrip("\n") if self._begins else text
        if text:
            session.send(text)
            self._last, self._begins = text[-1], False
        return text
