"""The change stream as it is: every change row, in the order of ``seq``.  Reading: R48."""
