"""What the Python SDK does, as data that the JavaScript SDK must repeat: `python -m tests.vectors` writes the files."""
