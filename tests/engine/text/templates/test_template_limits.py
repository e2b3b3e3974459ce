"""Templates that would never be read."""

import pytest

from pie_mlx.engine.text.templates.template import ChatTemplate
from pie_mlx.errors import TemplateError


@pytest.mark.parametrize(
    "source",
    ["{{" + "(" * 5000 + "1" + ")" * 5000 + "}}", "{% if 1 %}" * 2000 + "{% endif %}" * 2000, "{% for %}"],
    ids=["parentheses", "conditions", "no loop"],
)
def test_a_template_that_cannot_be_read_is_refused(source):
    with pytest.raises(TemplateError, match="chat template: "):
        ChatTemplate.from_text(source)
