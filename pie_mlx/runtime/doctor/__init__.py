"""What `pie doctor` and `pie model` find out about this machine and its models, without starting an engine.

`machine` gathers facts, a failure being one of them; `diagnosis` judges facts and touches nothing.
"""
