"""HTTP/1.1 on a connection."""

import logging
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_INCOMPLETE = "ASGI callable returned without completing response."


def _is_news(record: logging.LogRecord) -> bool:
    return record.msg != _INCOMPLETE


_log = logging.getLogger(__name__)
_log.addFilter(_is_news)


class HttpProtocol(H11Protocol):
    """An answer that is not completed closes the connection; whoever broke it off has told why."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.logger = _log
