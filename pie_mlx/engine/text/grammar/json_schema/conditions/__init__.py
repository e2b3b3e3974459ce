"""Conditions of a schema (`not`, `if`, `dependentRequired` and others) as alternatives, which engines know."""
