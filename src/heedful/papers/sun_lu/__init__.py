"""Sun & Lu (2020), "Understanding Attention for Text Classification", and experiments that go beyond it."""
