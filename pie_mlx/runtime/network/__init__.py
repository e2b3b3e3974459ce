"""The way out: an HTTP proxy per worker, which reaches the hosts the configuration allows and nothing else.

rules, of hosts        allowed_hosts, public_addresses
name to address        border        one resolution, and the address that was checked is the one connected to
bytes                  request_head, exchange, proxy
all of them            gateway       on a thread of its own
"""
