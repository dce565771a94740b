"""The chapter: the encoder-decoder Transformer, one file for each of its ideas."""
