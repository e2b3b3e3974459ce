"""Rules of programs on the device: checked once, and run for all rows of a batch that have the same one."""
