"""`pie client`: the verbs of pie-client, for an engine anywhere. Only this folder knows cli_config.toml."""
