"""Choice studies asked in words: two answers are shown, and one of them is to be named."""
