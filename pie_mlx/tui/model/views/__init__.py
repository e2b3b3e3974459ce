"""What a screen or a script shows, derived from a MonitorState. Nothing here changes one."""
