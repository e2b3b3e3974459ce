def test_notes_outlive_the_run(play):
    first = play("file-memory", {"remember": "The red key is in the kitchen.", "ask": ""})
    second = play("file-memory", {"remember": "", "ask": "Where is the key?"})
    assert first.text == second.text == "[notes: 1]\n"
    assert first.result is None
    assert "kitchen" in second.result


def test_a_note_is_kept_once(play):
    note = {"remember": "The museum opens at 10:30.", "ask": ""}
    assert play("file-memory", note).text == play("file-memory", note).text
