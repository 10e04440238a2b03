// EXPECT: true
import partita.Symbolic;

public class StringNondetSafe {
    public static void main(String[] arguments) {
        String s = Symbolic.makeString("s", 3);
        if (s.startsWith("x")) {
            assert s.length() > 0 && s.charAt(0) == 'x';
        }
    }
}
