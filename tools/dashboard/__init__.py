"""The dashboard in the browser: looks at the bus, draws, and commands only while somebody has taken control."""
