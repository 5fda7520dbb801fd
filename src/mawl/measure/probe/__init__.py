"""What the storage itself can do (fio over directories), and what compression would save on it."""
