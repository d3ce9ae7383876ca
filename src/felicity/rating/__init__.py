"""Rating studies: prompts, replies, parsing."""
