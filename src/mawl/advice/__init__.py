"""What the figures of a run mean to whoever asks: what limits it, is it carried, is it to be believed."""
