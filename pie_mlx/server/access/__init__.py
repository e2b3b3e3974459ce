"""Who a connection acts for, and which web pages and names may make requests."""
