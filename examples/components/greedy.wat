;; Continues a text with the likeliest tokens, pass by pass: what Pie's Rust SDK does below its Context and Generator.
(component
  (import "wasi:io/poll@0.2.4" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "pie:core/runtime" (instance $runtime
    (export "models" (func (result (list string))))))
  (import "pie:core/session" (instance $session
    (export "send" (func (param "message" string)))))
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
      (func (param "model" (borrow $model)) (result (result (own $context) (error string)))))
    (export "[method]context.reserve-working-pages"
      (func (param "self" (borrow $context)) (param "num-pages" u32) (result (result (error string)))))))
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
    (type $slot_kind (variant
      (case "token" u32) (case "distribution" (tuple (list u32) (list f32))) (case "logits" (list u8))
      (case "logprobs" (list f32)) (case "entropy" f32) (case "embedding" (list u8))))
    (export "slot-output" (type $slot (eq $slot_kind)))
    (type $output_kind (record
      (field "slots" (list $slot)) (field "spec-tokens" (list u32)) (field "spec-positions" (list u32))))
    (export "output" (type $output (eq $output_kind)))
    (export "forward-pass" (type $pass (sub resource)))
    (export "future-output" (type $future (sub resource)))
    (export "[constructor]forward-pass" (func (param "model" (borrow $model)) (result (own $pass))))
    (export "[method]forward-pass.context" (func (param "self" (borrow $pass)) (param "context" (borrow $context))))
    (export "[method]forward-pass.input-tokens"
      (func (param "self" (borrow $pass)) (param "tokens" (list u32)) (param "positions" (list u32))))
    (export "[method]forward-pass.sampler"
      (func (param "self" (borrow $pass)) (param "indices" (list u32)) (param "sampler" $sampler)))
    (export "[method]forward-pass.execute"
      (func (param "self" (borrow $pass)) (result (result (own $future) (error string)))))
    (export "[method]future-output.pollable" (func (param "self" (borrow $future)) (result (own $pollable))))
    (export "[method]future-output.get" (func (param "self" (borrow $future)) (result (option $output))))))
  (alias export $inference "forward-pass" (type $a_pass))
  (alias export $inference "future-output" (type $a_future))

  (core module $Memory
    (memory (export "memory") 16)
    (global $free (mut i32) (i32.const 8192))
    (func (export "realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32)
      (local $place i32)
      (local.set $place (i32.and
        (i32.add (global.get $free) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $free (i32.add (local.get $place) (local.get $size)))
      (local.get $place)))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $m))
  (alias core export $memory "realloc" (core func $realloc))

  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core func $models (canon lower (func $runtime "models") (memory $m) (realloc $realloc)))
  (core func $send (canon lower (func $session "send") (memory $m)))
  (core func $load (canon lower (func $model "[static]model.load") (memory $m) (realloc $realloc)))
  (core func $tokenizer (canon lower (func $model "[method]model.tokenizer")))
  (core func $encode (canon lower (func $model "[method]tokenizer.encode") (memory $m) (realloc $realloc)))
  (core func $decode (canon lower (func $model "[method]tokenizer.decode") (memory $m) (realloc $realloc)))
  (core func $create (canon lower (func $context "[static]context.create") (memory $m) (realloc $realloc)))
  (core func $reserve
    (canon lower (func $context "[method]context.reserve-working-pages") (memory $m) (realloc $realloc)))
  (core func $new_pass (canon lower (func $inference "[constructor]forward-pass")))
  (core func $on (canon lower (func $inference "[method]forward-pass.context")))
  (core func $input (canon lower (func $inference "[method]forward-pass.input-tokens") (memory $m)))
  (core func $sample (canon lower (func $inference "[method]forward-pass.sampler") (memory $m)))
  (core func $execute (canon lower (func $inference "[method]forward-pass.execute") (memory $m) (realloc $realloc)))
  (core func $pollable (canon lower (func $inference "[method]future-output.pollable")))
  (core func $get (canon lower (func $inference "[method]future-output.get") (memory $m) (realloc $realloc)))
  (core func $drop_pollable (canon resource.drop $pollable))
  (core func $drop_pass (canon resource.drop $a_pass))
  (core func $drop_future (canon resource.drop $a_future))

  (core module $Main
    (import "memory" "memory" (memory 16))
    (import "pie" "block" (func $block (param i32)))
    (import "pie" "models" (func $models (param i32)))
    (import "pie" "send" (func $send (param i32 i32)))
    (import "pie" "load" (func $load (param i32 i32 i32)))
    (import "pie" "tokenizer" (func $tokenizer (param i32) (result i32)))
    (import "pie" "encode" (func $encode (param i32 i32 i32 i32)))
    (import "pie" "decode" (func $decode (param i32 i32 i32 i32)))
    (import "pie" "create" (func $create (param i32 i32)))
    (import "pie" "reserve" (func $reserve (param i32 i32 i32)))
    (import "pie" "new_pass" (func $new_pass (param i32) (result i32)))
    (import "pie" "on" (func $on (param i32 i32)))
    (import "pie" "input" (func $input (param i32 i32 i32 i32 i32)))
    (import "pie" "sample" (func $sample (param i32 i32 i32 i32 i32 i32 f32)))
    (import "pie" "execute" (func $execute (param i32 i32)))
    (import "pie" "pollable" (func $pollable (param i32) (result i32)))
    (import "pie" "get" (func $get (param i32 i32)))
    (import "pie" "drop_pollable" (func $drop_pollable (param i32)))
    (import "pie" "drop_pass" (func $drop_pass (param i32)))
    (import "pie" "drop_future" (func $drop_future (param i32)))
    (data (i32.const 64) "Once upon a time")

    ;; 16: the result of a call. 128: the token that was drawn. 132: the index of the last input. 256: positions.
    (global $model (mut i32) (i32.const 0))
    (global $words (mut i32) (i32.const 0))
    (global $context (mut i32) (i32.const 0))
    (global $length (mut i32) (i32.const 0))

    ;; The value of a result, which must be ok.
    (func $value (result i32)
      (if (i32.load8_u (i32.const 16)) (then unreachable))
      (i32.load (i32.const 20)))

    (func $begin
      (call $models (i32.const 16))
      (call $load (i32.load (i32.load (i32.const 16))) (i32.load offset=4 (i32.load (i32.const 16))) (i32.const 16))
      (global.set $model (call $value))
      (global.set $words (call $tokenizer (global.get $model)))
      (call $create (global.get $model) (i32.const 16))
      (global.set $context (call $value))
      (call $reserve (global.get $context) (i32.const 4) (i32.const 16))
      (drop (call $value)))

    ;; Computes tokens at the end of the context, and puts the likeliest next one at 128.
    (func $step (param $tokens i32) (param $count i32)
      (local $pass i32) (local $future i32) (local $ready i32) (local $n i32)
      (loop $more
        (i32.store
          (i32.add (i32.const 256) (i32.mul (local.get $n) (i32.const 4)))
          (i32.add (global.get $length) (local.get $n)))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $more (i32.lt_u (local.get $n) (local.get $count))))
      (global.set $length (i32.add (global.get $length) (local.get $count)))
      (local.set $pass (call $new_pass (global.get $model)))
      (call $on (local.get $pass) (global.get $context))
      (call $input (local.get $pass) (local.get $tokens) (local.get $count) (i32.const 256) (local.get $count))
      (i32.store (i32.const 132) (i32.sub (local.get $count) (i32.const 1)))
      ;; multinomial(0.0, 1): at temperature 0 the likeliest token
      (call $sample
        (local.get $pass) (i32.const 132) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 1) (f32.const 0))
      (call $execute (local.get $pass) (i32.const 16))
      (local.set $future (call $value))
      (local.set $ready (call $pollable (local.get $future)))
      (call $block (local.get $ready))
      (call $get (local.get $future) (i32.const 16))
      ;; some output, whose first slot is a token
      (i32.store (i32.const 128) (i32.load offset=4 (i32.load (i32.const 20))))
      (call $drop_pollable (local.get $ready))
      (call $drop_future (local.get $future))
      (call $drop_pass (local.get $pass)))

    (func (export "run") (param i32 i32) (result i32)
      (local $left i32)
      (call $begin)
      (call $encode (global.get $words) (i32.const 64) (i32.const 16) (i32.const 16))
      (call $step (i32.load (i32.const 16)) (i32.load (i32.const 20)))
      (local.set $left (i32.const 24))
      (loop $more
        (call $decode (global.get $words) (i32.const 128) (i32.const 1) (i32.const 16))
        (call $send (call $value) (i32.load (i32.const 24)))
        (call $step (i32.const 128) (i32.const 1))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br_if $more (local.get $left)))
      (i32.store (i32.const 16) (i32.const 0))
      (i32.store (i32.const 20) (i32.const 64))
      (i32.store (i32.const 24) (i32.const 16))
      (i32.const 16)))
  (core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "pie" (instance
      (export "block" (func $block)) (export "models" (func $models)) (export "send" (func $send))
      (export "load" (func $load)) (export "tokenizer" (func $tokenizer)) (export "encode" (func $encode))
      (export "decode" (func $decode)) (export "create" (func $create)) (export "reserve" (func $reserve))
      (export "new_pass" (func $new_pass)) (export "on" (func $on)) (export "input" (func $input))
      (export "sample" (func $sample)) (export "execute" (func $execute)) (export "pollable" (func $pollable))
      (export "get" (func $get)) (export "drop_pollable" (func $drop_pollable))
      (export "drop_pass" (func $drop_pass)) (export "drop_future" (func $drop_future))))))

  (func $run (param "input" string) (result (result string (error string)))
    (canon lift (core func $main "run") (memory $m) (realloc $realloc)))
  (instance $exported (export "run" (func $run)))
  (export "pie:greedy/run" (instance $exported)))
