"""The bytes of pages: copies, loads and losses, the disk they spill to, the files of snapshots."""
