"""What a limit of thoughts is for each way to reason."""

from inferlet._generation.thinking import thought_limit
from pie_mlx.calls import Formats, ReasoningFormat


def limit_of(formats: Formats, *, cued: bool = True) -> tuple[str, str, str, bool] | None:
    grammar = thought_limit(formats, 5, cued=cued)
    limit = None if grammar is None else grammar.source.limit
    return None if limit is None else (limit.opening, limit.closing, limit.again, limit.is_open)


def test_a_thought_is_open_right_after_a_cue_that_opens_it() -> None:
    formats = Formats([1], reasoning=ReasoningFormat("<think>", "</think>", opened_by_cue=True))
    assert limit_of(formats) == ("<think>", "</think>", "", True)
    assert limit_of(formats, cued=False) == ("<think>", "</think>", "", False)
    assert limit_of(Formats([1], reasoning=ReasoningFormat("<t>", "</t>"))) == ("<t>", "</t>", "", False)


def test_a_second_analysis_leads_to_the_answer() -> None:
    formats = Formats([1], channels=True, answer_opening="<|channel|>final<|message|>")
    assert limit_of(formats) == (
        "<|channel|>analysis<|message|>",
        "<|end|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
        False,
    )


def test_a_model_without_thoughts_has_no_limit() -> None:
    assert limit_of(Formats([1])) is None
