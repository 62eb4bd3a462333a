"""The command line: ``cedr check``, ``cedr explain``, ``cedr eval``, ``cedr demo``.

Thin: each command reads its arguments, calls the library and prints.  Engines are imported by the command that needs
them, so that everything else answers at once.
"""
