"""The forms in which a test says what the model says."""

from collections.abc import Callable, Mapping, Sequence

from pie_mlx.errors import InvalidArgumentError

Answers = str | Mapping[str, float]
Script = str | Sequence[Answers] | Mapping[str, Answers] | Callable[[str], Answers]
"""A text for every prompt; texts in their order; the text for the prompt in which a word comes last; or a function."""


def as_function(script: Script) -> Callable[[str], Answers]:
    """From a prompt to the text that follows it, or to texts with their probabilities.

    The function raises InvalidArgumentError for a prompt that the script has no answer to.
    """
    if callable(script):
        return script
    if isinstance(script, str):
        return lambda prompt: script
    return _by_rule(script) if isinstance(script, Mapping) else _in_turn(script)


def _by_rule(rules: Mapping[str, Answers]) -> Callable[[str], Answers]:
    def answer(prompt: str) -> Answers:
        place, word = max((prompt.rfind(word), word) for word in rules) if rules else (-1, "")
        if place < 0:
            raise InvalidArgumentError(f"script: no rule for the prompt {prompt[-200:]!r}", hint="add a word of it")
        return rules[word]

    return answer


def _in_turn(answers: Sequence[Answers]) -> Callable[[str], Answers]:
    left = list(answers)

    def answer(prompt: str) -> Answers:
        if not left:
            raise InvalidArgumentError(
                f"script: no answer is left of {len(answers)}, to the prompt {prompt[-200:]!r}",
                hint="add it, or use a function",
            )
        return left.pop(0)

    return answer
