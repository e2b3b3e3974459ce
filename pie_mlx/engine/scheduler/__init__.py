"""One tick after the other: what waits, what is planned, what is in flight, what is committed.

Read `queue.py` first, where calls wait, and `scheduler.py`, the loop that serves them. `tick_state.py` holds what
waits, `live_context.py` and `forward_task.py` its parts. `tick_planner.py` plans a tick, from the picture that
`tick_view.py` makes for the policy; `tick_batch.py` makes the batch, and takes its results. `restoring.py` suspends and
restores contexts, `retaining.py` weighs hints about idle ones, `oom.py` refuses calls when nothing moves any more.
`sharing.py` divides the device among users, `device_turns.py` among models. `gangs.py` lets contexts run as one.
`reports.py` emits events.
"""
