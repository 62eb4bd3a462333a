"""Results as pictures: rows, the events that they are made of, lateness and retractions in valid time, as SVG text.

The path of a drawing:

    story    rows, changes and messages become bars and dots      layout   which line each takes, and where labels go
    choice   which of them are shown, and what links them         shapes   bars, dots, links and text as SVG
    clock    how times are written, and the ticks of the axis     picture  the whole

Only the standard library is used, and the same input always gives the same text.
"""
