import json

from pie_mlx.events import ProcessLaunched


def test_every_question_is_answered_once_by_workers_on_one_wallet(play):
    questions = ["Hello!", "Who are you?", "Bye."]
    played = play("swarm", {"questions": questions, "workers": 2, "max_tokens": 4})
    parent, *workers = played.of(ProcessLaunched)
    assert [worker.parent for worker in workers] == [parent.process] * 2
    assert all(line.startswith(("worker 1: ", "worker 2: ")) for line in played.messages)
    assert sorted(next(q for q in questions if f": {q} " in line) for line in played.messages) == sorted(questions)
    assert json.loads(played.result.split()[0]) == 3
