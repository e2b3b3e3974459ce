"""Components are offered what Pie's WIT 0.4.0, WASI 0.2 and our own WIT define: each function, with as many values."""

import re
from pathlib import Path

import pytest

import pie_mlx.wasm
from pie_mlx.wasm.offered import OFFERED, refusal
from pie_mlx.wasm.offers import arity

DEFINED = {
    "pie:core/adapter": """
        [method]adapter.destroy/1 [method]adapter.fork/2 [method]adapter.load/2 [method]adapter.save/2
        [static]adapter.create/2 [static]adapter.open/2
    """,
    "pie:core/context": """
        [method]context.bid/2 [method]context.commit-working-pages/2 [method]context.committed-page-count/1
        [method]context.destroy/1 [method]context.fork/1 [method]context.model/1
        [method]context.release-working-pages/2 [method]context.reserve-working-pages/2 [method]context.save/2
        [method]context.snapshot/1 [method]context.suspend/1 [method]context.tokens-per-page/1
        [method]context.truncate-working-page-tokens/2 [method]context.working-page-count/1
        [method]context.working-page-token-count/1 [static]context.create/1 [static]context.delete/2
        [static]context.open/2 [static]context.take/2
    """,
    "pie:core/inference": """
        [constructor]forward-pass/1 [constructor]matcher/2 [method]forward-pass.adapter/2
        [method]forward-pass.attention-mask/2 [method]forward-pass.context/2 [method]forward-pass.execute/1
        [method]forward-pass.input-audio/3 [method]forward-pass.input-image/3
        [method]forward-pass.input-speculative-tokens/3 [method]forward-pass.input-tokens/3
        [method]forward-pass.logit-mask/2 [method]forward-pass.output-speculative-tokens/2
        [method]forward-pass.pass-speculation/2 [method]forward-pass.sampler/3 [method]future-output.get/1
        [method]future-output.pollable/1 [method]grammar.to-string/1 [method]matcher.accept-tokens/2
        [method]matcher.is-terminated/1 [method]matcher.next-token-logit-mask/1 [method]matcher.reset/1
        [static]grammar.from-ebnf/1 [static]grammar.from-json-schema/1 [static]grammar.from-regex/1
        [static]grammar.json/0
    """,
    "pie:core/messaging": """
        [method]subscription.get/1 [method]subscription.pollable/1 [method]subscription.unsubscribe/1
        broadcast/2 pull/1 push/2 subscribe/1
    """,
    "pie:core/model": """
        [method]model.default-system-speculation/1 [method]model.tokenizer/1 [method]tokenizer.decode/2
        [method]tokenizer.encode/2 [method]tokenizer.special-tokens/1 [method]tokenizer.split-regex/1
        [method]tokenizer.vocabs/1 [static]model.load/1
    """,
    "pie:core/runtime": """
        [method]child.cancel/1 [method]child.get/1 [method]child.pid/1 [method]child.pollable/1 instance-id/0
        launch/2 models/0 username/0 version/0
    """,
    "pie:core/scheduling": """
        balance/1 dividend/1 latency/1 price/0 rent/1
    """,
    "pie:core/session": """
        receive-file/0 receive/0 send-file/1 send/1
    """,
    "pie:core/types": """
        [method]future-blob.get/1 [method]future-blob.pollable/1 [method]future-string.get/1
        [method]future-string.pollable/1
    """,
    "pie:instruct/chat": """
        [method]decoder.feed/2 [method]decoder.reset/1 assistant/2 create-decoder/1 cue/1 first-user/2 seal/1
        stop-tokens/1 system-user/3 system/2 user/2
    """,
    "pie:instruct/reasoning": """
        [method]decoder.feed/2 [method]decoder.reset/1 create-decoder/1
    """,
    "pie:instruct/tool-use": """
        [method]decoder.feed/2 [method]decoder.reset/1 answer/3 create-decoder/1 create-matcher/2 equip/2
        format/2
    """,
    "pie:mcp/client": """
        [method]session.call-tool/3 [method]session.get-prompt/3 [method]session.list-prompts/1
        [method]session.list-resources/1 [method]session.list-tools/1 [method]session.read-resource/2
        available-servers/0 connect/1
    """,
    "pie:zo/zo": """
        adapter-seed/2 initialize/6 update/4
    """,
    "wasi:clocks/monotonic-clock": """
        now/0 resolution/0 subscribe-duration/1 subscribe-instant/1
    """,
    "wasi:clocks/wall-clock": """
        now/0 resolution/0
    """,
    "wasi:filesystem/preopens": """
        get-directories/0
    """,
    "wasi:filesystem/types": """
        [method]descriptor.advise/4 [method]descriptor.append-via-stream/1
        [method]descriptor.create-directory-at/2 [method]descriptor.get-flags/1 [method]descriptor.get-type/1
        [method]descriptor.is-same-object/2 [method]descriptor.link-at/5 [method]descriptor.metadata-hash-at/3
        [method]descriptor.metadata-hash/1 [method]descriptor.open-at/5 [method]descriptor.read-directory/1
        [method]descriptor.read-via-stream/2 [method]descriptor.read/3 [method]descriptor.readlink-at/2
        [method]descriptor.remove-directory-at/2 [method]descriptor.rename-at/4 [method]descriptor.set-size/2
        [method]descriptor.set-times-at/5 [method]descriptor.set-times/3 [method]descriptor.stat-at/3
        [method]descriptor.stat/1 [method]descriptor.symlink-at/3 [method]descriptor.sync-data/1
        [method]descriptor.sync/1 [method]descriptor.unlink-file-at/2 [method]descriptor.write-via-stream/2
        [method]descriptor.write/3 [method]directory-entry-stream.read-directory-entry/1
        filesystem-error-code/1
    """,
    "wasi:io/error": """
        [method]error.to-debug-string/1
    """,
    "wasi:io/poll": """
        [method]pollable.block/1 [method]pollable.ready/1 poll/1
    """,
    "wasi:io/streams": """
        [method]input-stream.blocking-read/2 [method]input-stream.blocking-skip/2 [method]input-stream.read/2
        [method]input-stream.skip/2 [method]input-stream.subscribe/1 [method]output-stream.blocking-flush/1
        [method]output-stream.blocking-splice/3 [method]output-stream.blocking-write-and-flush/2
        [method]output-stream.blocking-write-zeroes-and-flush/2 [method]output-stream.check-write/1
        [method]output-stream.flush/1 [method]output-stream.splice/3 [method]output-stream.subscribe/1
        [method]output-stream.write-zeroes/2 [method]output-stream.write/2
    """,
    "wasi:random/insecure": """
        get-insecure-random-bytes/1 get-insecure-random-u64/0
    """,
    "wasi:random/insecure-seed": """
        insecure-seed/0
    """,
    "wasi:random/random": """
        get-random-bytes/1 get-random-u64/0
    """,
}


RULES = (Path(pie_mlx.wasm.__file__).with_name("wit") / "rules.wit").read_text(encoding="utf-8")


def written(text):
    """The functions of a WIT document with one resource that has no constructor, as above."""
    before, resource, after = re.split(r"^  resource rule {\n|^  }\n(?=\n  /// `seed`)", text, flags=re.MULTILINE)
    for lines, kind in ((resource, "rule"), (before + after, "")):
        for name, static, values in re.findall(r"([a-z-]+): (static )?func\(((?:[^()]|\n)*)\)", lines):
            count = len(re.findall(r"[a-z-]+: ", values)) + (kind != "" and not static)
            prefix = f"[{'static' if static else 'method'}]{kind}." if kind else ""
            yield f"{prefix}{name}/{count}"


def test_rules_are_offered_as_their_wit_is_written():
    (version,) = re.findall(r"^package pie-mlx:rules@(.*);$", RULES, flags=re.MULTILINE)
    offered = {f"{word}/{arity(function)}" for word, function in OFFERED["pie-mlx:rules/rules"].offered.items()}
    assert version.startswith("0.1.")
    assert offered == set(written(RULES))


@pytest.mark.parametrize("name", DEFINED)
def test_an_interface_has_every_function_and_no_other(name):
    offered = {f"{word}/{arity(function)}" for word, function in OFFERED[name].offered.items()}
    assert offered == set(DEFINED[name].split())


def test_what_no_engine_here_can_do_is_refused_with_a_reason():
    for name in ("pie:core/media", "pie:core/audio-out", "wasi:sockets/tcp", "wasi:sockets/network"):
        assert refusal(name)
    assert not any(refusal(name) for name in OFFERED)
