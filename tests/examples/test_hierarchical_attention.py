import re

from pie_mlx.events import ContextCreated


def test_the_answer_sees_gists_and_one_section(play):
    played = play("hierarchical-attention", {"max_tokens": 12})
    assert played.text.count("gist: ") == 3
    seen, before = map(int, re.search(r"saw (\d+) of (\d+)", played.text).groups())
    assert 0 < seen < before / 2
    assert len(played.of(ContextCreated)) == 1


def test_gists_are_about_their_own_section(play):
    gists = [line for line in play("hierarchical-attention").messages if line.startswith("gist")]
    assert [name in gist for name, gist in zip(("Anna", "Tom", "Peter"), gists, strict=True)] == [True] * 3
