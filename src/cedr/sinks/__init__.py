"""Where the answers of a query go: streams of changes, views that are always the latest belief, actions.

``contract`` says what a sink is; ``kinds`` has the table of all of them.
"""
