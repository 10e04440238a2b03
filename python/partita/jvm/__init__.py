"""Java: class files to a `Program`. The rest of Partita knows `lower_java` only."""

from partita.jvm.frontend import JAVA_INPUTS, is_java, lower_java

__all__ = ["JAVA_INPUTS", "is_java", "lower_java"]
