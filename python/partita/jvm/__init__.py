"""Java: class files to a `Program`. The rest of Partita knows `frontend.lower_java` only."""
