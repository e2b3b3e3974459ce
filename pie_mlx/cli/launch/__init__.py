"""`pie launch`: coding agents and other clients, on an engine of ours."""
