"""What the JavaScript SDK has from this code, written by `python -m tools.javascript`: calls, replies and errors."""
