"""One scripted engine, and what its metrics tell of the requests of a test."""

import os
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.clients.scripted import scripted_engine
from tests.clients.tasks import Script

INSTALLED = Path(os.environ.get("CLIENTS", ".clients")).absolute()
"""Where `make test-clients` installs the clients."""


@pytest.fixture(scope="session")
def script():
    return Script()


@pytest.fixture(scope="session")
def url(tmp_path_factory, script):
    with scripted_engine(tmp_path_factory.mktemp("engine"), script) as address:
        yield address


@pytest.fixture
def counted(url):
    """What has come since the test began."""
    before = _counts(url)

    def counts():
        now = _counts(url)
        return Counted(now.statuses - before.statuses, now.cached_tokens - before.cached_tokens)

    return counts


@dataclass(frozen=True)
class Counted:
    """Requests by their status, and tokens that were found in the cache."""

    statuses: Counter[str]
    cached_tokens: float

    def refused(self):
        """The statuses of refused requests. Some clients leave at the last event, before the end of the answer."""
        return set(self.statuses) - {"200", "499"}


def _counts(url):
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        families = text_string_to_metric_families(answer.read().decode())
        samples = [sample for family in families for sample in family.samples]
    statuses, cached = Counter[str](), 0.0
    for sample in samples:
        if sample.name == "pie_http_requests_total":
            statuses[sample.labels["status"]] += int(sample.value)
        if sample.name == "pie_cached_tokens_total":
            cached = sample.value
    return Counted(statuses, cached)


@pytest.fixture
def environment(tmp_path):
    """Variables of a command line that has never been used, and that finds the clients."""
    (tmp_path / "user").mkdir()
    paths = [str(INSTALLED / "node_modules" / ".bin"), str(INSTALLED / "aider" / "bin"), os.environ["PATH"]]
    kept = {
        name: value for name, value in os.environ.items() if name in ("LANG", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS")
    }
    own = {"HOME": str(tmp_path / "user"), "PIE_HOME": str(tmp_path / "pie"), "PYTHONPATH": os.getcwd()}
    # LiteLLM fetches a list of prices whenever it starts, and waits long where it cannot.
    offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return {**kept, **own, **offline, "PATH": os.pathsep.join(paths), "NO_COLOR": "1"}
