"""A component, as text, that draws with a rule: its input is the prompt of one pass of each of its models, its result
their texts, a line each."""

from tests.wasm.components import component

_IMPORTS = """
  (import "wasi:io/poll@0.2.4" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "pie:core/model" (instance $model
    (export "model" (type $model (sub resource)))
    (export "tokenizer" (type $tokenizer (sub resource)))
    (export "[static]model.load" (func (param "name" string) (result (result (own $model) (error string)))))
    (export "[method]model.tokenizer" (func (param "self" (borrow $model)) (result (own $tokenizer))))
    (export "[method]tokenizer.encode"
      (func (param "self" (borrow $tokenizer)) (param "text" string) (result (list u32))))
    (export "[method]tokenizer.decode"
      (func (param "self" (borrow $tokenizer)) (param "tokens" (list u32)) (result (result string (error string)))))))
  (alias export $model "model" (type $a_model))
  (import "pie:core/context" (instance $context
    (alias outer 1 $a_model (type $model))
    (export "context" (type $context (sub resource)))
    (export "[static]context.create"
      (func (param "model" (borrow $model)) (result (result (own $context) (error string)))))))
  (alias export $context "context" (type $a_context))
  (import "pie:core/inference" (instance $inference
    (alias outer 1 $pollable (type $pollable))
    (alias outer 1 $a_model (type $model))
    (alias outer 1 $a_context (type $context))
    (type $sampler_kind (variant
      (case "multinomial" (tuple f32 u32)) (case "top-k" (tuple f32 u32)) (case "top-p" (tuple f32 f32))
      (case "min-p" (tuple f32 f32)) (case "top-k-top-p" (tuple f32 u32 f32)) (case "embedding")
      (case "dist" (tuple f32 u32)) (case "raw-logits") (case "logprob" u32) (case "logprobs" (list u32))
      (case "entropy")))
    (export "sampler" (type $sampler (eq $sampler_kind)))
    (export "forward-pass" (type $pass (sub resource)))
    (export "future-output" (type $future (sub resource)))
    (export "[constructor]forward-pass" (func (param "model" (borrow $model)) (result (own $pass))))
    (export "[method]forward-pass.context" (func (param "self" (borrow $pass)) (param "context" (borrow $context))))
    (export "[method]forward-pass.input-tokens"
      (func (param "self" (borrow $pass)) (param "tokens" (list u32)) (param "positions" (list u32))))
    (export "[method]forward-pass.execute"
      (func (param "self" (borrow $pass)) (result (result (own $future) (error string)))))
    (export "[method]future-output.pollable" (func (param "self" (borrow $future)) (result (own $pollable))))))
  (alias export $inference "sampler" (type $a_sampler))
  (alias export $inference "forward-pass" (type $a_pass))
  (alias export $inference "future-output" (type $a_future))
  (import "pie-mlx:rules/rules@0.1.0" (instance $rules
    (alias outer 1 $a_sampler (type $sampler_of_pie))
    (export "sampler" (type $sampler (eq $sampler_of_pie)))
    (alias outer 1 $a_pass (type $pass))
    (alias outer 1 $a_future (type $future))
    (type $value_kind (variant (case "number" f64) (case "vector" (list f32))))
    (export "value" (type $value (eq $value_kind)))
    (type $options_kind (record (field "seed" (option s64)) (field "since" (option u32))))
    (export "draw-options" (type $options (eq $options_kind)))
    (type $drawing_kind (record
      (field "tokens" (list u32)) (field "states" (list (list f64))) (field "ended" bool) (field "kept" u32)))
    (export "drawing" (type $drawing (eq $drawing_kind)))
    (export "rule" (type $rule (sub resource)))
    (export "[static]rule.create"
      (func (param "graph" (list u8)) (param "values" (list (tuple string $value)))
        (result (result (own $rule) (error string)))))
    (export "sample"
      (func (param "pass" (borrow $pass)) (param "indices" (list u32)) (param "sampler" $sampler)
        (param "rule" (borrow $rule)) (param "options" $options) (result (result (error string)))))
    (export "up-to"
      (func (param "pass" (borrow $pass)) (param "tokens" u32) (param "stop-tokens" (list u32))
        (result (result (error string)))))
    (export "drawn"
      (func (param "output" (borrow $future)) (result (result (option (list $drawing)) (error string)))))))
"""
_CALLS = {
    "block": ("poll.[method]pollable.block", "(param i32)"),
    "load": ("model.[static]model.load", "(param i32 i32 i32)"),
    "tokenizer": ("model.[method]model.tokenizer", "(param i32) (result i32)"),
    "encode": ("model.[method]tokenizer.encode", "(param i32 i32 i32 i32)"),
    "decode": ("model.[method]tokenizer.decode", "(param i32 i32 i32 i32)"),
    "create": ("context.[static]context.create", "(param i32 i32)"),
    "new_pass": ("inference.[constructor]forward-pass", "(param i32) (result i32)"),
    "on": ("inference.[method]forward-pass.context", "(param i32 i32)"),
    "input": ("inference.[method]forward-pass.input-tokens", "(param i32 i32 i32 i32 i32)"),
    "execute": ("inference.[method]forward-pass.execute", "(param i32 i32)"),
    "pollable": ("inference.[method]future-output.pollable", "(param i32) (result i32)"),
    "new_rule": ("rules.[static]rule.create", "(param i32 i32 i32 i32 i32)"),
    "sample": ("rules.sample", "(param i32 i32 i32 i32 i32 i32 f32 i32 i32 i64 i32 i32 i32)"),
    "up_to": ("rules.up-to", "(param i32 i32 i32 i32 i32)"),
    "drawn": ("rules.drawn", "(param i32 i32)"),
}
_MAIN = """
  ;; 32: the result of a call. 2048: values of the rule. 2560: the index of the last input.
  ;; 2816: positions. 3328: texts.
  (global $written (mut i32) (i32.const 3328))
  (func $value (result i32)
    (if (i32.load8_u (i32.const 32)) (then unreachable))
    (i32.load (i32.const 36)))
  (func $continue (param $name i32) (param $length i32) (param $prompt i32) (param $bytes i32)
    (local $model i32) (local $words i32) (local $tokens i32) (local $count i32) (local $n i32)
    (local $rule i32) (local $pass i32) (local $future i32)
    (call $load (local.get $name) (local.get $length) (i32.const 32))
    (local.set $model (call $value))
    (local.set $words (call $tokenizer (local.get $model)))
    (call $encode (local.get $words) (local.get $prompt) (local.get $bytes) (i32.const 32))
    (local.set $tokens (i32.load (i32.const 32)))
    (local.set $count (i32.load (i32.const 36)))
    (loop $more
      (i32.store (i32.add (i32.const 2816) (i32.mul (local.get $n) (i32.const 4))) (local.get $n))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $n) (local.get $count))))
    (i32.store (i32.const 2560) (i32.sub (local.get $count) (i32.const 1)))
    ;; ("rate", number(0.8)) and ("temperature", number(2.0))
    (i32.store (i32.const 2048) (i32.const 64))
    (i32.store (i32.const 2052) (i32.const 4))
    (f64.store (i32.const 2064) (f64.const 0.8))
    (i32.store (i32.const 2072) (i32.const 68))
    (i32.store (i32.const 2076) (i32.const 11))
    (f64.store (i32.const 2088) (f64.const 2.0))
    (call $new_rule (i32.const 79) (i32.const {graph_bytes}) (i32.const 2048) (i32.const 2) (i32.const 32))
    (local.set $rule (call $value))
    (call $create (local.get $model) (i32.const 32))
    (local.set $pass (call $new_pass (local.get $model)))
    (call $on (local.get $pass) (call $value))
    (call $input (local.get $pass) (local.get $tokens) (local.get $count) (i32.const 2816) (local.get $count))
    ;; multinomial(1.0, 1); the seed is 3, generated are all tokens
    (call $sample
      (local.get $pass) (i32.const 2560) (i32.const 1)
      (i32.const 0) (i32.const 0x3f800000) (i32.const 1) (f32.const 0)
      (local.get $rule) (i32.const 1) (i64.const 3) (i32.const 0) (i32.const 0) (i32.const 32))
    (drop (call $value))
    (call $up_to (local.get $pass) (i32.const {steps}) (i32.const 0) (i32.const 0) (i32.const 32))
    (drop (call $value))
    (call $execute (local.get $pass) (i32.const 32))
    (local.set $future (call $value))
    (call $block (call $pollable (local.get $future)))
    (call $drawn (local.get $future) (i32.const 32))
    ;; ok(some(drawings)): the tokens of the first
    (local.set $tokens (i32.load (i32.const 40)))
    (call $decode
      (local.get $words) (i32.load (local.get $tokens)) (i32.load offset=4 (local.get $tokens)) (i32.const 32))
    (memory.copy (global.get $written) (call $value) (i32.load (i32.const 40)))
    (global.set $written (i32.add (global.get $written) (i32.load (i32.const 40))))
    (i32.store8 (global.get $written) (i32.const 10))
    (global.set $written (i32.add (global.get $written) (i32.const 1))))
  (func (export "run") (param $prompt i32) (param $bytes i32) (result i32)
    {continues}
    (call $ok (i32.const 3328) (i32.sub (global.get $written) (i32.const 3328))))
"""


def ruled(graph: bytes, steps: int, models: list[str]) -> str:
    """Its rule has two values: `rate` is 0.8, `temperature` 2."""
    place, names, continues = 79 + len(graph), "".join(models), ""
    for name in models:
        named = f"(i32.const {place}) (i32.const {len(name)})"
        continues += f"(call $continue {named} (local.get $prompt) (local.get $bytes))"
        place += len(name)
    answer = "ratetemperature" + "".join(f"\\{byte:02x}" for byte in graph) + names
    main = _MAIN.format(graph_bytes=len(graph), steps=steps, continues=continues)
    return component(main, imports=_IMPORTS, calls=_CALLS, answer=answer)
