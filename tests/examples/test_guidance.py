from collections import Counter

from pie_mlx.events import PassCompleted


def test_without_guidance_the_instruction_does_not_count(play):
    played = play("guidance", {"scale": 1.5})
    assert played.messages[0] == "scale 0: The colour of a lemon is yellow.\n"
    assert played.messages[1] == "scale 1.5: yellow\n"


def test_both_contexts_take_the_same_passes(play):
    played = play("guidance", {"max_tokens": 4})
    passes = Counter(event.context for event in played.of(PassCompleted))
    assert len(passes) == 4
    assert sum(event.following for event in played.of(PassCompleted)) > 0
