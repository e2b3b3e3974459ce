"""The grammar engines of one model and one stop set, each made when first used: that takes up to a second."""

from collections.abc import Sequence

from pie_mlx.engine.text.grammar.cache import CompileCache
from pie_mlx.engine.text.grammar.llguidance_engine import LlguidanceEngine
from pie_mlx.engine.text.grammar.views import View
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer


class Engines:
    """Safe to use from any thread."""

    def __init__(self, tokenizer: Tokenizer, vocabulary_size: int, stop_tokens: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self._vocabulary_size = vocabulary_size
        self._stop_tokens = stop_tokens
        self._llguidance = CompileCache[LlguidanceEngine](2)

    def llguidance(self, view: View) -> LlguidanceEngine:
        """For one view of the vocabulary."""
        return self._llguidance.get(
            view, 1, lambda: LlguidanceEngine(self._tokenizer, view, self._vocabulary_size, self._stop_tokens)
        )
