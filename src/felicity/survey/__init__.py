"""A study as a survey for people: make it, collect, and take the answers in as a reference."""
