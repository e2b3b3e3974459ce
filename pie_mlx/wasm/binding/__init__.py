"""Values, resources and functions between Python and wasmtime.

Its own component bindings read every type again in every call; these compile a converter per type, once. One thread
uses a component at a time.
"""
