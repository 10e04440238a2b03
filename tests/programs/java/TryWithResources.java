// EXPECT: true
public class TryWithResources {
    static final class Closing implements AutoCloseable {
        final int[] log;

        Closing(int[] log) {
            this.log = log;
        }

        @Override
        public void close() {
            log[0]++;
        }
    }

    public static void main(String[] arguments) {
        int[] log = new int[1];
        try (Closing c = new Closing(log)) {
            log[0] = 5;
        }
        assert log[0] == 6;
    }
}
