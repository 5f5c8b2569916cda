"""The command line: one file per verb. Heavy rooms are imported inside the verbs, so that --help is quick."""
