// EXPECT: assert
import partita.Symbolic;

public class StringNondet {
    public static void main(String[] arguments) {
        String s = Symbolic.makeString("s", 3);
        assert !s.equals("ab"); // BUG
    }
}
