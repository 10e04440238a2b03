// EXPECT: true
public class Synchronized {
    static final class Counter {
        int sum;

        synchronized void add(int n) {
            synchronized (this) {
                sum += n;
            }
        }
    }

    public static void main(String[] arguments) {
        Counter c = new Counter();
        for (int i = 0; i < 3; i++) {
            c.add(i);
        }
        assert c.sum == 3;
    }
}
