"""What a run leaves for later: a trace, or a recording to replay."""
