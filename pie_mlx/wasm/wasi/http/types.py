"""The interface `wasi:http/types`."""

from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.wasi.http.bodies import FutureTrailers, IncomingBody, OutgoingBody
from pie_mlx.wasm.wasi.http.fields import Fields
from pie_mlx.wasm.wasi.http.incoming import IncomingRequest, OutgoingResponse, ResponseOutparam
from pie_mlx.wasm.wasi.http.outgoing import FutureIncomingResponse, IncomingResponse, OutgoingRequest, RequestOptions
from pie_mlx.wasm.wasi.poll import Error


def http_error_code(error: Error) -> None:
    """Streams fail with errors of the system, which are none of HTTP."""


INTERFACES = (
    Interface(
        "wasi:http/types",
        (http_error_code,),
        (
            *(Fields, FutureIncomingResponse, FutureTrailers, IncomingBody, IncomingRequest, IncomingResponse),
            *(OutgoingBody, OutgoingRequest, OutgoingResponse, RequestOptions, ResponseOutparam),
        ),
        constructed=(Fields, OutgoingRequest, OutgoingResponse, RequestOptions),
    ),
)
