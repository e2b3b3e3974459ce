;; The smallest component: it sends its input to the client, and returns a text.
;;
;; Pie's interfaces are imported by name. The interface 'run' is exported under the name of the program, as Pie's Rust SDK does.
(component
  (import "pie:core/session" (instance $session
    (export "send" (func (param "message" string)))))

  ;; Memory of its own, and a place in it for each text that arrives.
  (core module $Memory
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32) (param $align i32) (param $size i32) (result i32)
      (local $place i32)
      (local.set $place (i32.and
        (i32.add (global.get $free) (i32.sub (local.get $align) (i32.const 1)))
        (i32.sub (i32.const 0) (local.get $align))))
      (global.set $free (i32.add (local.get $place) (local.get $size)))
      (local.get $place)))
  (core instance $memory (instantiate $Memory))
  (core func $send (canon lower (func $session "send") (memory $memory "memory")))

  (core module $Main
    (import "memory" "memory" (memory 1))
    (import "session" "send" (func $send (param i32 i32)))
    (data (i32.const 64) "Hello from a component.")

    ;; The input is a text: its place and length. The result is the place of three words: ok, and a text.
    (func (export "run") (param $input i32) (param $length i32) (result i32)
      (call $send (local.get $input) (local.get $length))
      (i32.store (i32.const 16) (i32.const 0))
      (i32.store (i32.const 20) (i32.const 64))
      (i32.store (i32.const 24) (i32.const 23))
      (i32.const 16)))
  (core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "session" (instance (export "send" (func $send))))))

  (func $run (param "input" string) (result (result string (error string)))
    (canon lift (core func $main "run") (memory $memory "memory") (realloc (func $memory "realloc"))))
  (instance $exported (export "run" (func $run)))
  (export "pie:hello/run" (instance $exported)))
