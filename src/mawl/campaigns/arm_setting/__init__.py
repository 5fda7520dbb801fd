"""Arms with a setting: what an arm changes outside mawl is made, read back and undone
(docs/design/arm-settings.md)."""
