"""`wasi:http`: requests of the component through the program's proxy, and answers to requests of others."""
