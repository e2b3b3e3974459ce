"""Moves the bytes of pages: copies, loads and losses, the disk they spill to, the files of snapshots.

Read `page_io.py` first: it carries out what the page store decided, in order, before the next batch. `spill/` keeps
pages of suspended contexts, `disk/` those that outlive the engine (`stored_kv.py` loads them, `evicted_pages.py` writes
them), `archive.py` snapshots. `state_io.py` does for recurrent states what `page_io.py` does for pages.
"""
