"""Arms with a setting: a change outside mawl that is made, read back and undone
(docs/design/arm-settings.md)."""
