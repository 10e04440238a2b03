// EXPECT: true
public class StringEquals {
    public static void main(String[] arguments) {
        String a = "par";
        String b = a + "tita";
        assert b.equals("partita") && b != "partita";
        assert b.length() == 7 && b.charAt(3) == 't';
    }
}
