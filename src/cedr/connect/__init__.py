"""Where messages come from and where results go: files of messages, event types, dead letters, rows as JSON.

Readings: R3 (messages), R37 (types inferred from a file), R39 and R41 (what becomes a dead letter).
"""
