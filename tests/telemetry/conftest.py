"""A collector that speaks OTLP over HTTP."""

import http.server
import threading

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector(http.server.ThreadingHTTPServer):
    """Keeps what it is sent, and answers `status`."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Receiver)
        self.status, self.requests, self.paths = 200, [], []

    @property
    def endpoint(self):
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def services(self):
        """The names of the services that sent spans."""
        return {
            each.value.string_value
            for resource in self._resources()
            for each in resource.resource.attributes
            if each.key == "service.name"
        }

    def spans(self):
        return [span for resource in self._resources() for scope in resource.scope_spans for span in scope.spans]

    def _resources(self):
        return [resource for request in self.requests for resource in request.resource_spans]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        data = self.rfile.read(int(self.headers["content-length"]))
        self.server.paths.append(self.path)
        self.server.requests.append(ExportTraceServiceRequest.FromString(data))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def collector():
    with Collector() as running:
        serving = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        yield running
        running.shutdown()
        serving.join()
