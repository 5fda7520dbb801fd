"""What the storage itself can do, measured with fio."""
