"""Java: class files to a `Program`. `lower_java` is the front end's entry; nothing outside of this folder knows Java."""

from partita.jvm.frontend import JAVA_INPUTS, is_java, lower_java

__all__ = ["JAVA_INPUTS", "is_java", "lower_java"]
