def test_every_answer_fits_the_schema(play):
    texts = ["Nina lives in Lima. She is 27 years old.", "Hello!", "{]"]
    people = play("json-extraction", {"texts": texts}).result
    assert len(people) == 3
    for person in people:
        assert list(person) == ["name", "age", "city"]
        assert 0 <= person["age"] <= 120
        assert len(person["city"]) <= 24
