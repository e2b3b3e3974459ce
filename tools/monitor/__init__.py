"""The recording and the picture of the monitor."""
