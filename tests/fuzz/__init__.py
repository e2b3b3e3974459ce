"""Input of strangers, made up: whatever comes, only typed errors come out, and they come soon.

CI tries few examples of each; `make fuzz SECONDS=300` tries many, and lets libFuzzer follow the
code's branches as well.
"""
