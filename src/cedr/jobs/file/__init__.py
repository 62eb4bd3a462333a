"""The job file: its text, its settings with overrides and secrets, and what they describe."""
