"""A debugger, as an editor is one: it speaks the Debug Adapter Protocol over a socket."""

import json
import socket

PATIENCE_SECONDS = 40.0


class Debugger:
    """Attaches to a program at `address`, stops it at lines of files, and looks around."""

    def __init__(self, address):
        self._socket = socket.create_connection(address, timeout=PATIENCE_SECONDS)
        self._stream = self._socket.makefile("rb")
        self._number = 0
        self._events, self._answers = [], {}

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self._stream.close()
        self._socket.close()

    def attach(self, breakpoints):
        """As an editor does it: attach, set breakpoints by file, and begin."""
        self.ask("initialize", adapterID="pie", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
        attached = self.send("attach", justMyCode=True, subProcess=False)
        self.event("initialized")
        for file, lines in breakpoints.items():
            source = {"path": str(file)}
            found = self.ask("setBreakpoints", source=source, breakpoints=[{"line": line} for line in lines])
            assert all(one["verified"] for one in found["breakpoints"]), found
        self.ask("configurationDone")
        self._answer(attached)

    def stopped(self):
        """Where the program has stopped: its thread, file and line, and the id of the frame."""
        thread = self.event("stopped")["threadId"]
        frame = self.ask("stackTrace", threadId=thread)["stackFrames"][0]
        return thread, frame["source"]["path"], frame["line"], frame["id"]

    def value(self, frame, expression):
        return self.ask("evaluate", frameId=frame, expression=expression)["result"]

    def ask(self, command, **arguments):
        """The body of the answer."""
        return self._answer(self.send(command, **arguments))

    def send(self, command, **arguments):
        self._number += 1
        message = {"seq": self._number, "type": "request", "command": command, "arguments": arguments}
        data = json.dumps(message).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        return self._number

    def event(self, name):
        """The body of the next event of that name."""
        while True:
            for place, message in enumerate(self._events):
                if message["event"] == name:
                    return self._events.pop(place).get("body", {})
            self._read()

    def _answer(self, number):
        while number not in self._answers:
            self._read()
        message = self._answers.pop(number)
        assert message["success"], message
        return message.get("body", {})

    def _read(self):
        length = 0
        while (line := self._stream.readline().strip()) or not length:
            assert line, "the program has ended"
            length = int(line.partition(b":")[2])
        message = json.loads(self._stream.read(length))
        if message["type"] == "event":
            self._events.append(message)
        else:
            self._answers[message["request_seq"]] = message
