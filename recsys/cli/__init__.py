"""The command line. `main.COMMANDS` lists the commands and their modules."""
