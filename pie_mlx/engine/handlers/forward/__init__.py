"""One forward pass, from its call to its reply.

Read `handler.py` first: a pass is planned, computed, reported and answered. `pass_plan.py` decides what it computes,
after `forward_request.py` and `slot_checks.py` have checked the call. `pass_pages.py` attaches cached pages and takes
new ones, `disk_pages.py` those of the disk cache; `checkpointing.py` keeps states of recurrent layers. Steps that
follow a pass are in `continuation.py`, forced tokens in `jumping.py`, drafts in `speculating.py` and
`engine_drafts.py`, passes of several contexts in `gang_pass.py`, what is read of several inputs in `text_readings.py`.
`reporting.py` and `drawn_tokens.py` emit tokens.
"""
