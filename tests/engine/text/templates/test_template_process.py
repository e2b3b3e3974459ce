"""Templates that take too long, too much memory, or write too much."""

import sys
from collections.abc import Iterator

import pytest

from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.engine.text.templates.process import TemplateProcess
from pie_mlx.engine.text.templates.template import ChatTemplate
from pie_mlx.errors import ModelLoadError, TemplateError
from tests.engine.text.conftest import Factory

ENDLESS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
CHAT = "{% for m in messages %}{{ m.role + ': ' + m.content + '\n' }}{% endfor %}"


@pytest.fixture(scope="module")
def process() -> Iterator[TemplateProcess]:
    made = TemplateProcess(cpu_seconds=0.2)
    yield made
    made.close()


def rendered(process: TemplateProcess, source: str) -> str:
    template = ChatTemplate(lambda tools: source, {}, process=process)
    template.on_trial = False
    return template.render([{"role": "user", "content": "Hi"}])


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (ENDLESS, "takes more than 0.2 s"),
        ("{% for i in range(99999) %}{{ 'a' * 1000 }}{% endfor %}", "writes more than"),
        ("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", "nested too deeply"),
        ("{{ '(' * 2000 }}" + "{{ " + "(" * 2000 + "1" + ")" * 2000 + " }}", "nested too deeply"),
    ],
)
def test_a_template_has_limits(process: TemplateProcess, source: str, why: str) -> None:
    with pytest.raises(TemplateError, match=why):
        rendered(process, source)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
@pytest.mark.parametrize(
    "source",
    [
        "{{ 'a' * 10**10 }}",
        "{{ 'a'.center(10**10) }}",
        "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    ],
)
def test_a_template_that_takes_too_much_memory_is_refused(process: TemplateProcess, source: str) -> None:
    with pytest.raises(TemplateError):
        rendered(process, source)


def test_others_are_rendered_after_one_was_killed(process: TemplateProcess) -> None:
    assert rendered(process, CHAT) == "user: Hi\n"
    with pytest.raises(TemplateError):
        rendered(process, ENDLESS)
    assert rendered(process, CHAT) == "user: Hi\n"


def test_a_model_with_an_endless_template_is_not_loaded(make_tokenizer: Factory) -> None:
    with pytest.raises(ModelLoadError, match="chat template: it takes more than"):
        ChatRenderer(make_tokenizer(ENDLESS))
