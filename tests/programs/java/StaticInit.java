// EXPECT: true
public class StaticInit {
    static class Lazy {
        static int count;
    }

    static class Holder {
        static final int VALUE;

        static {
            Lazy.count++;
            VALUE = 7;
        }
    }

    public static void main(String[] arguments) {
        assert Lazy.count == 0;
        int x = Holder.VALUE;
        assert Lazy.count == 1 && x == 7;
    }
}
