"""Several runs made to answer one question: the floor that uses both sides."""
