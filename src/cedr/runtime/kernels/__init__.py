"""Every compiled loop."""
