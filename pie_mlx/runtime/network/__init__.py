"""The only way out for programs: one HTTP proxy per worker, which reaches the hosts the configuration allows.

rules, by host         allowed_hosts, public_addresses
from name to address   egress        resolves once, and connects to the address it checked
bytes                  request_head, proxy_connection
all proxies            gateway       on one thread of its own
"""
