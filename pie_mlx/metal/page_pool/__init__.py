"""The memory of the KV pages, as one interface with two layouts. It knows page ids and slots only."""
