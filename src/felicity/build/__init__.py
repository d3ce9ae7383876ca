"""Make a data set of dialogues: grow it from base dialogues, check it, judge it, export it."""
