"""A debugger, as an editor is one: it speaks the Debug Adapter Protocol over a socket."""

import json
import os
import socket
import subprocess

PATIENCE_SECONDS = 40.0


class Debugger:
    """Attaches to a program at `address`, or speaks over a socket; stops it at lines of files, and looks around."""

    def __init__(self, address=None, *, over=None):
        self._socket = over or socket.create_connection(address, timeout=PATIENCE_SECONDS)
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
        self._begin(self.send("attach", justMyCode=True, subProcess=False), breakpoints)

    def launch(self, configuration, breakpoints):
        """As an editor does it with a configuration of its launch.json; the program's terminal is a process of ours,
        which is given back."""
        self.ask(
            "initialize",
            adapterID="debugpy",
            pathFormat="path",
            linesStartAt1=True,
            columnsStartAt1=True,
            supportsRunInTerminalRequest=True,
        )
        launched = self.send("launch", **configuration)
        terminal = self.event("runInTerminal")
        environment = {**os.environ, **terminal.get("env", {})}
        process = subprocess.Popen(
            terminal["args"], cwd=terminal["cwd"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        )
        self._reply("runInTerminal", processId=process.pid)
        self._begin(launched, breakpoints)
        return process

    def _begin(self, begun, breakpoints):
        self.event("initialized")
        for file, lines in breakpoints.items():
            source = {"path": str(file)}
            found = self.ask("setBreakpoints", source=source, breakpoints=[{"line": line} for line in lines])
            assert all(one["verified"] for one in found["breakpoints"]), found
        self.ask("configurationDone")
        self._answer(begun)

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
        self._write({"type": "request", "command": command, "arguments": arguments})
        return self._number

    def _reply(self, command, **body):
        """Answer the last request of the adapter."""
        self._write({"type": "response", "request_seq": self._asked, "success": True, "command": command, "body": body})

    def _write(self, message):
        self._number += 1
        message["seq"] = self._number
        data = json.dumps(message).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

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
        if message["type"] == "request":
            self._asked = message["seq"]
            self._events.append({"event": message["command"], "body": message["arguments"]})
        elif message["type"] == "event":
            self._events.append(message)
        else:
            self._answers[message["request_seq"]] = message
