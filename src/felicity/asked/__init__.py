"""Choice studies asked of a participant in words: two answers are shown, which one is it?"""
