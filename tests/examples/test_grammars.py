import re


def test_every_answer_keeps_to_its_grammar(play):
    played = play("grammars")
    found = played.result
    assert found["choice"] in ("yes", "no", "perhaps")
    assert re.fullmatch(r"[A-Z][a-z]{2,8} \d{1,3}\.", found["regex"])
    assert re.fullmatch(r"\d+( \+ \d+)+ = \d+", found["lark"])
    assert played.text.count("ended by grammar") >= 3


def test_grammars_that_leave_nothing_together_are_cut_by_the_shorter(play):
    both = play("grammars").result["lark and regex"]
    assert len(both) <= 8
