"""What can go wrong: the diagnostic and its place, the exceptions that carry it, and the lists of all codes.

Everything else imports this folder, and it imports nothing of CEDR.

    span        places in a text                        code              what is known of one code
    diagnostic  one thing that is wrong                 codes             all codes of the language
    exceptions  the tree of exceptions                  codes_of_text     found while a text is read
                                                        codes_of_meaning  found while it is checked
                                                        codes_elsewhere   messages, evaluation, the command line
"""
