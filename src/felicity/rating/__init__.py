"""Rating studies: their folders, their prompts, and the replies to them."""
