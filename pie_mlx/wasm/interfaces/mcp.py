"""`pie:mcp/client`."""

from collections.abc import Callable

from inferlet import mcp as sdk
from pie_mlx.errors import McpError
from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.offers import Interface


class Session:
    """A server, as the SDK's `McpSession`."""

    def __init__(self, session: sdk.McpSession) -> None:
        self._session = session

    def list_tools(self) -> str:
        return _attempt(self._session.list_tools)

    def call_tool(self, name: str, args: str) -> str:
        return _attempt(lambda: self._session.call_tool(name, args))

    def list_resources(self) -> str:
        return _attempt(self._session.list_resources)

    def read_resource(self, uri: str) -> str:
        return _attempt(lambda: self._session.read_resource(uri))

    def list_prompts(self) -> str:
        return _attempt(self._session.list_prompts)

    def get_prompt(self, name: str, args: str) -> str:
        return _attempt(lambda: self._session.get_prompt(name, args))


def available_servers() -> list[str]:
    return sdk.available_servers()


def connect(name: str) -> Session:
    try:
        return Session(sdk.connect(name))
    except McpError as error:
        raise _as_wit(error) from error


def _attempt(call: Callable[[], str]) -> str:
    try:
        return call()
    except McpError as error:
        raise _as_wit(error) from error


def _as_wit(error: McpError) -> WitError:
    """Code, message and data; an empty text is no data."""
    return WitError((error.rpc_code, error.message, str(error.data) if error.data else None))


INTERFACES = (Interface("pie:mcp/client", (available_servers, connect), (Session,)), Interface("pie:mcp/types"))
