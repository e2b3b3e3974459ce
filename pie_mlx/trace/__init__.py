"""Where the time of programs went: spans, folded from the events of an engine, and how they are shown."""
