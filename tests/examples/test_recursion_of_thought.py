from pie_mlx.events import ContextCreated


def test_a_list_is_split_until_two_numbers_are_compared(play):
    numbers = [17, 45, 92, 38]
    played = play("recursion-of-thought", {"numbers": numbers})
    assert len(played.of(ContextCreated)) == len(numbers) - 1
    assert played.messages[-1].startswith(f"{numbers}: ")
    assert played.result in numbers
