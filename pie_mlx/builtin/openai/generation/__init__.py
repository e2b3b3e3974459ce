"""From a request to tokens and back: the conversation, constraints, choices, and the text of replies."""
