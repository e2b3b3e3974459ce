"""How models speak: tokenizers, chat templates, reasoning and tool formats, grammars."""
