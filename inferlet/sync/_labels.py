"""The names of contexts, unique within a program."""

import itertools
from weakref import WeakKeyDictionary, WeakValueDictionary

from inferlet._calls.checks import checked_text
from inferlet._calls.host import HostLink
from pie_mlx.errors import InvalidArgumentError


class Labels:
    """The labels of one program's contexts while they live."""

    def __init__(self) -> None:
        self._owners: WeakValueDictionary[str, object] = WeakValueDictionary()
        self._made_up = (f"context-{number}" for number in itertools.count(1))

    def check(self, label: str | None) -> None:
        """Raises InvalidArgumentError for a label another context has, InvalidTypeError for no text."""
        if label is not None and checked_text(label, "context name") in self._owners:
            raise InvalidArgumentError(
                f"context name {label!r}: it is taken", hint="give each context a name of its own"
            )

    def assign(self, label: str | None, owner: object) -> str:
        """Give the owner this label, or an unused one for None; returns it. Raises what `check` does."""
        self.check(label)
        if label is None:
            label = next(made_up for made_up in self._made_up if made_up not in self._owners)
        self._owners[label] = owner
        return label

    def free(self, label: str, owner: object) -> None:
        """Free the label, if it is still the owner's."""
        if self._owners.get(label) is owner:
            del self._owners[label]


_labels: WeakKeyDictionary[HostLink, Labels] = WeakKeyDictionary()


def labels_of(host: HostLink) -> Labels:
    """The labels of the program behind `host`."""
    return _labels.setdefault(host, Labels())
