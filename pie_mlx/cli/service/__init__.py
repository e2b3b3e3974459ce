"""An engine that the system starts at login and keeps running: a launchd agent, or a systemd user unit."""
