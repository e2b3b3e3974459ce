"""Templates that would never be read, or whose first line would never be written."""

import pytest

from pie_mlx.engine.text.template import SOURCE_LIMIT, ChatTemplate
from pie_mlx.errors import TemplateError

NEVER_READ = [
    "a" * (SOURCE_LIMIT + 1),
    "{{" + "(" * 5000 + "1" + ")" * 5000 + "}}",
    "{% if 1 %}" * 2000 + "{% endif %}" * 2000,
    "{% for %}",
]
NEVER_WRITTEN = [
    "{{ 10 ** 10 ** 8 }}",
    "{{ 'a' * 10 ** 10 }}",
    "{{ 10 ** 6 * 'abc' }}",
    "{{ [1] * 10 ** 9 }}",
    "{% for one in range(10 ** 9) %}a{% endfor %}",
]


@pytest.mark.parametrize("source", NEVER_READ)
def test_a_template_that_cannot_be_read_is_refused(source):
    with pytest.raises(TemplateError, match="chat template: "):
        ChatTemplate.from_text(source)


@pytest.mark.parametrize("source", NEVER_WRITTEN)
def test_a_template_is_read_without_computing_what_is_constant_in_it(source):
    template = ChatTemplate.from_text(source)
    with pytest.raises(TemplateError, match=r"more than a template needs|Range too big"):
        template.render([])
