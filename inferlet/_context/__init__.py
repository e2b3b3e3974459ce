"""A context on the program's side: its handle, its bid, and the tokens that are not in KV yet."""
