// EXPECT: true
public class StringBuilderReverse {
    public static void main(String[] arguments) {
        StringBuilder b = new StringBuilder();
        for (char c = 'a'; c < 'e'; c++) {
            b.append(c);
        }
        assert b.reverse().toString().equals("dcba");
    }
}
