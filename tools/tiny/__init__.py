"""How pie-tiny is made: text, tokenizer, model, training, export, scores."""
