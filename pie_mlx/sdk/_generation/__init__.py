"""What a Generator is made of: constraints, drafts, structured output, and the cut at a stop token."""
