"""From events to the next MonitorState: one event at a time, or a whole snapshot at once."""
