"""The telemetry that `[telemetry]` asks for."""

import contextlib
from collections.abc import Callable, Generator

from pie_mlx.config.schema import TelemetryConfig
from pie_mlx.errors import ConfigError
from pie_mlx.events import Event

CONTENT_KINDS = ("tokens_computed",)
"""Details that telemetry with content needs."""


@contextlib.contextmanager
def telemetry_of(config: TelemetryConfig, report: Callable[[str], None]) -> Generator[Callable[[Event], None] | None]:
    """An observer of events that sends spans; None if telemetry is off. `report` gets what becomes of them, on any
    thread. Raises ConfigError without the packages of the extra."""
    if not config.enabled:
        yield None
        return
    try:
        from pie_mlx.telemetry.exporting import Telemetry, otlp_exporter
    except ImportError as error:
        raise ConfigError(
            f"telemetry: {error.name or 'opentelemetry'} is not installed",
            hint="install 'pie-mlx[telemetry]', or set [telemetry] enabled = false",
        ) from None
    telemetry = Telemetry(otlp_exporter(config.endpoint, report), config.service_name)
    try:
        yield telemetry.observe
    finally:
        telemetry.close()


def content_details(config: TelemetryConfig) -> tuple[str, ...]:
    """The kinds of details that an engine emits for telemetry."""
    return CONTENT_KINDS if config.enabled and config.capture_content else ()
