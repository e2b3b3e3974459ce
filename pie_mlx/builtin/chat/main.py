"""A conversation. Every turn adds to the same pages, so nothing is computed twice."""

import asyncio
import json
import re

from inferlet import Context, Model, Sampler, chat, errors, reasoning, runtime, session

HELP = """\
/clear     forget what was said
/bye       end the conversation, as Ctrl-D does
Ctrl-C     stop an answer
Alt-Enter  begin a new line
"""
ENDINGS = ("/bye", "/exit", "/quit")
COMMAND = re.compile(r"(/[a-z]+)(?:\s.*)?", re.DOTALL)
"""Words that other tools have commands for; a path has a second slash."""
UNKNOWN = "(There is no {}: /? tells what there is.)\n"
FORGOTTEN = "(The conversation got longer than the model can read: its older half is forgotten.)\n"
TOO_LONG = "(That is longer than the model can read: leave something out.)\n"
FULL = (errors.ContextLengthError, errors.OutOfPagesError)


async def main(input):
    """Answer `question`, or every message until the client sends no more. Returns the last answer to a program."""
    model = Model.load(runtime.models()[0], template=json.loads(input["template"]))
    talk, said = Talk(model, input), ""
    if input["question"]:
        return await talk.answer(input["question"])
    if input["interactive"]:
        return await converse(talk, Person())
    async for text in messages():
        said = await talk.answer(text)
    return said


async def messages():
    """The client's messages, until it sends no more."""
    while True:
        try:
            text = await session.receive()
        except errors.SessionClosedError:
            return
        if text.strip():
            yield text


async def converse(talk, person):
    """Take turns with a person at a terminal, until they leave."""
    session.send(f"{talk.model.name}. Ctrl-D ends the conversation, /? tells what else there is.\n")
    while (text := await person.turn()) not in ENDINGS:
        match text:
            case "/?" | "/help":
                session.send(HELP)
            case "/clear":
                talk.forget(everything=True)
            case _ if command := COMMAND.fullmatch(text):
                session.send(UNKNOWN.format(command[1]))
            case _:
                await reply(talk, text, person)


async def reply(talk, text, person):
    """Answer until `person` speaks, or say that there is no room for the text."""
    try:
        await talk.answer(text, person.speaks)
    except FULL:
        talk.forget()
        session.send(TOO_LONG)


class Person:
    """A person at a terminal, who sees when it is their turn, and stops an answer by sending anything."""

    def __init__(self):
        self._hearing = None

    async def turn(self):
        """The next message; "/bye" if there will be none."""
        session.send({"turn": "yours"})
        text = ""
        while not text.strip():
            try:
                text = await self._listen()
            except errors.SessionClosedError:
                return "/bye"
            finally:
                self._hearing = None
        return text.strip()

    def speaks(self):
        """Whether the person has sent something since their last turn."""
        return self._listen().done()

    def _listen(self):
        self._hearing = self._hearing or asyncio.ensure_future(session.receive())
        return self._hearing


def never():
    """A client that never stops an answer."""
    return False


class Talk:
    """The conversation, on one context. When that is full, the older half is forgotten."""

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
        """Start again, with the later half of the turns or none."""
        self._context.release()
        del self._turns[: len(self._turns) if everything else (len(self._turns) + 1) // 2]
        self._begin()

    async def answer(self, text, is_over=never):
        """Raises one of FULL for a text that does not fit alone."""
        told = False
        while True:
            try:
                said = await answer(self._context.user(text), self._input, is_over)
                break
            except FULL:
                if not self._turns:
                    raise
                self.forget()
                if not told:
                    session.send(FORGOTTEN)
                told = True
        self._context.seal()
        self._turns.append((text, said))
        return said


async def answer(context, input, is_over):
    """Stream the model's turn: its thoughts, marked by a line before and after, then its reply, which is the result."""
    thoughts, words, page = reasoning.Decoder(context.model), chat.Decoder(context.model), Page()
    sampler = Sampler(input["temperature"], p=input["top_p"])
    async for step in context.generate(sampler, max_tokens=input["max_tokens"]):
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
    """Sends text without the empty lines that models write around their thoughts."""

    def __init__(self):
        self.said = ""
        self._last = "\n"
        self._begins = True

    def show(self, decoder, event):
        """Send the text of an event and of all that follow it."""
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
        """Start a new line with `text`; empty lines behind it are left out."""
        self._write(text if self._last == "\n" else "\n" + text)
        self._begins = True

    def _write(self, text):
        text = text.lstrip("\n") if self._begins else text
        if text:
            session.send(text)
            self._last, self._begins = text[-1], False
        return text
