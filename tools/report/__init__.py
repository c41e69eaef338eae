"""Reports: one self-contained HTML page of a log, and the pages of other tools."""
