"""`pie ps`, `logs`, `attach`, `signal` and `kill`: processes of an engine that runs."""
