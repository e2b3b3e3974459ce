"""What is configured reaches the engine."""

import mlx.core as mx
import pytest

from pie_mlx.config import load_config
from pie_mlx.engine.model.loading.load import load_model
from pie_mlx.engine.model.loading.sources import find_model
from pie_mlx.engine.settings import DiskCacheSettings
from pie_mlx.errors import ModelNotFoundError
from pie_mlx.runtime.configured import engine_settings
from pie_mlx.server.configured import server_settings

TEXT = """
[[model]]
name = "a"
hf_repo = "org/a"
revision = "v1.2"
[model.scheduler]
request_timeout_secs = 7
restore_pause_at_utilization = 0.5
admission_oversubscription_factor = 1.5
[model.engine]
buffer_cache_mb = 3
draft_model = "org/a-small"
ready_timeout_s = 1.5
shutdown_timeout_s = 0.25
"""


@pytest.fixture
def loaded(tmp_path):
    (tmp_path / "config.toml").write_text(TEXT)
    return load_config(environment={"PIE_HOME": str(tmp_path)})


def test_keys_of_a_model_are_settings_of_its_engine(loaded, tmp_path):
    settings = engine_settings(loaded.config.model[0], tmp_path)
    assert settings.revision == "v1.2"
    assert settings.request_timeout_seconds == 7
    assert settings.admission_oversubscription == 1.5  # Q11
    assert settings.buffer_cache_bytes == 3 << 20
    assert settings.draft_model == "org/a-small"


def test_kv_is_kept_on_disk_only_where_that_is_asked_for(loaded, tmp_path):
    assert engine_settings(loaded.config.model[0], tmp_path).disk_cache is None
    (tmp_path / "config.toml").write_text(
        TEXT.replace("[model.engine]", '[model.engine]\nkv_disk = "on"\nkv_disk_gb = 3')
    )
    model = load_config(environment={"PIE_HOME": str(tmp_path)}).config.model[0]
    expected = DiskCacheSettings(str(tmp_path / "kv"), max_bytes=3 << 30, day_bytes=50 << 30, shared=False)
    assert engine_settings(model, tmp_path).disk_cache == expected


def test_a_stop_takes_as_long_as_configured(loaded):
    assert server_settings(loaded.config).stop_seconds == 0.25


def test_a_key_without_effect_is_told_once(loaded):
    (warning,) = loaded.warnings
    assert "restore_pause_at_utilization" in warning
    assert "restores never pause" in warning


def test_a_revision_that_is_not_there_is_named():
    with pytest.raises(ModelNotFoundError, match=r"org/a at revision v1\.2"):
        find_model("org/a", allow_download=False, progress=print, revision="v1.2")


def test_freed_buffers_are_kept_within_bounds():
    try:
        load_model("pie-tiny", name="t", buffer_cache_bytes=1 << 20)
        assert mx.set_cache_limit(512 << 20) == 1 << 20
    finally:
        mx.set_cache_limit(512 << 20)
