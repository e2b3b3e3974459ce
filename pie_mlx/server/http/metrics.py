"""Metrics for Prometheus."""

from collections import Counter
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pie_mlx.engine.inspection import PoolStatus
from pie_mlx.events import PageUsage
from pie_mlx.runtime.registry import User
from pie_mlx.server.service import Service

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
disable_created_metrics()
_EVERYTHING = User("metrics", admin=True)


def metrics_text(service: Service, pools: Sequence[PoolStatus] = ()) -> bytes:
    """All metrics in the text format, with the pools of the models in memory."""
    registry = CollectorRegistry()
    registry.register(_ServiceCollector(service, pools))
    return generate_latest(registry) + generate_latest(service.metrics)


class _ServiceCollector(Collector):
    def __init__(self, service: Service, pools: Sequence[PoolStatus]) -> None:
        self._service, self._pools = service, pools

    def collect(self) -> Iterator[Metric]:
        totals, service = self._service.totals, self._service
        yield _counter("pie_batches", "Batches run", totals.batches)
        yield _counter("pie_tokens", "Tokens computed", totals.tokens)
        yield _counter("pie_cached_tokens", "Tokens attached from the prefix cache", totals.attached_tokens)
        yield _counter("pie_disk_pages_written", "Pages of KV written to the disk cache", totals.stored_pages)
        yield _counter("pie_disk_bytes_written", "Bytes written to the disk cache", totals.stored_bytes)
        yield _counter("pie_disk_pages_dropped", "Pages of KV that the disk did not take", totals.dropped_pages)
        yield _counter("pie_disk_pages_read", "Pages of KV read from the disk cache", totals.loaded_pages)
        yield _counter("pie_passes", "Forward passes completed", totals.requests)
        yield _counter("pie_batch_seconds", "Seconds spent in batches", totals.batch_seconds)
        yield _counter("pie_processes_launched", "Processes launched", totals.launched)
        yield _counter("pie_processes_returned", "Processes that returned, refused requests aside", totals.returned)
        yield _counter("pie_processes_refused", "Processes that answered a request with an error", totals.refused)
        yield _counter("pie_processes_failed", "Processes that failed", totals.failed)
        yield _counter("pie_processes_cancelled", "Processes that were ended, or whose client left", totals.cancelled)
        yield _counter("pie_frames_refused", "Frames that are not valid in the protocol", service.refused_frames)
        yield _counter("pie_signals_ignored", "Messages and files that no process received", service.ignored_signals)
        yield _gauge("pie_connections", "Open connections", len(service.connections))
        yield _gauge("pie_contexts_waiting", "Contexts left out of the latest batch", totals.waiting)
        yield _gauge("pie_clearing_price", "Credits per page and tick, at the first model", totals.price)
        yield _pages(self._service)
        yield from _of_models(self._pools)
        yield _processes(self._service)


def _counter(name: str, help: str, value: float) -> Metric:
    return CounterMetricFamily(name, help, value=value)


def _gauge(name: str, help: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help, value=value)


def _pages(service: Service) -> Metric:
    family = GaugeMetricFamily("pie_pages", "Pages of the pools of all models", labels=["state"])
    for state, value in _by_state(service.totals.pages):
        family.add_metric([state], value)
    return family


def _by_state(usage: PageUsage) -> tuple[tuple[str, int], ...]:
    return ("used", usage.used), ("cached", usage.cached), ("free", usage.free)


def _of_models(pools: Sequence[PoolStatus]) -> Iterator[Metric]:
    pages = GaugeMetricFamily("pie_model_pages", "Pages of a model's pool", labels=["model", "state"])
    price = GaugeMetricFamily("pie_model_clearing_price", "Credits per page and tick at a model", labels=["model"])
    for pool in pools:
        if not pool.pages.total:  # an encoder
            continue
        price.add_metric([pool.model], pool.price)
        for state, value in _by_state(pool.pages):
            pages.add_metric([pool.model, state], value)
    yield pages
    yield price


def _processes(service: Service) -> Metric:
    family = GaugeMetricFamily("pie_processes", "Processes that are not over", labels=["state"])
    counts = Counter(record.state for record in service.registry.records(_EVERYTHING))
    for state in ("queued", "running"):
        family.add_metric([state], counts[state])
    return family
