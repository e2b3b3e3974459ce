"""Files for programs. Not answered: a refusal is a notice on the process's standard error."""

from pie_mlx.errors import PieError, ProcessError, ProtocolError
from pie_mlx.server.frames import TransferFile
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.session.connection import Connection


@handles(TransferFile)
async def transfer_file(connection: Connection, chunk: TransferFile) -> None:
    registry = connection.service.registry
    try:
        record = registry.find(chunk.process_id, connection.user)
    except PieError:
        connection.service.ignored_signals += 1
        return
    try:
        if chunk.chunk_index == 0:
            registry.check_room(record, len(chunk.chunk_data))
        data = connection.files.add_chunk(chunk)
        if data is not None:
            registry.send_file(record, data)
    except ProtocolError as error:
        registry.notice(record, error.message)
    except ProcessError as error:
        connection.files.refuse(chunk)
        registry.notice(record, error.message)
