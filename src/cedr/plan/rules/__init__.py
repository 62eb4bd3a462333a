"""Rewrite rules, one per file: rule, file and test fixture have the same name.

A rule is ``rule(node) -> Node | None``; its docstring states the law and why it is sound.  ``plan.rewrite.RULES``
lists them in the order in which they are tried.
"""
