"""The chapter: the encoder-decoder Transformer, one file for each box of the figure."""
