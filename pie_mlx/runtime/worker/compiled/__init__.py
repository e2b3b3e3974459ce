"""Components in compiled form: compiled in a confined process, kept on disk, and checked against their digest."""
