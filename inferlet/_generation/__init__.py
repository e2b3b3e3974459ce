"""The parts of a Generator: constraints, drafts, structured output, and the cut at a stop token."""
