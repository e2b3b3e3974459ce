"""What `inferlet.rule` is made of."""
