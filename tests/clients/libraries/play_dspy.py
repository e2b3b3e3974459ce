"""DSPy: a plain prediction, whose reply has the fields of its signature."""

import sys

import dspy

url, model = sys.argv[1:]
dspy.configure(lm=dspy.LM(f"openai/{model}", api_base=f"{url}/v1", api_key="none", cache=False, num_retries=0))
assert dspy.Predict("question -> answer")(question="How warm is it in Paris?").answer == "It is 21 degrees in Paris."
