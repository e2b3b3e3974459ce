def test_more_mass_keeps_more_tokens(play):
    few = play("typical-sampling", {"mass": 0.2, "max_tokens": 8}).result
    many = play("typical-sampling", {"mass": 0.999, "max_tokens": 8}).result
    assert max(few) < max(many)
    assert min(few) >= 1


def test_a_seed_repeats_it(play):
    first, second = (play("typical-sampling", {"seed": 5, "max_tokens": 8}) for _ in range(2))
    assert first.messages == second.messages
