"""What an event is."""

import msgspec

EVENTS_VERSION = 1


def _snake_case(class_name: str) -> str:
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in class_name).lstrip("_")


class Event(msgspec.Struct, frozen=True, tag=_snake_case, tag_field="kind"):
    """Something that happened in an engine."""

    @property
    def kind(self) -> str:
        return str(self.__struct_config__.tag)
