"""The overview of an engine with several models."""

import msgspec
import pytest

from pie_mlx.events import PageUsage
from pie_mlx.tui.model.facts import ModelRow
from pie_mlx.tui.source.demo import demo_facts
from tests.tui.harness import StillDemo, monitor, settled_text
from tests.tui.pictures import Goldens

MODELS = (
    ModelRow("pie-tiny", "loaded", 8 << 30, 14, pages=PageUsage(320, 315, 185, 5), price=0.32),
    ModelRow("router", "loading", 512 << 20, 1, progress=0.4),
    ModelRow("embedder", "unloaded", 300 << 20),
)


class SeveralModels(StillDemo):
    """The demo as if it had further models."""

    def __init__(self, models):
        super().__init__()
        self._models = models

    def start(self, feed):
        super().start(feed)
        feed.facts(msgspec.structs.replace(demo_facts(), models=self._models))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=str)
async def test_each_model_has_a_row_with_its_state_its_memory_its_pages_and_their_price(size, tmp_path):
    goldens = Goldens(tmp_path)
    async with monitor(SeveralModels(MODELS), size=size) as (app, pilot):
        goldens.compare_text(f"several-models-{size[0]}x{size[1]}", await settled_text(app, pilot))
    goldens.check()


async def test_a_single_model_needs_no_row():
    async with monitor(SeveralModels(MODELS[:1])) as (app, _):
        assert not app.screen.query_one("#models").display
        assert app.screen.query_one("#pool").display
