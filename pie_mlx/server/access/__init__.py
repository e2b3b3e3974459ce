"""The user behind a connection, and which web pages and Host names may make requests. Knows no processes."""
