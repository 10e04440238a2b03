// EXPECT: assert
import org.sosy_lab.sv_benchmarks.Verifier;

public class RecursionAckermann {
    static int ack(int m, int n) {
        return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
    }

    public static void main(String[] arguments) {
        int m = Verifier.nondetInt();
        int n = Verifier.nondetInt();
        Verifier.assume(m >= 0 && m <= 2 && n >= 0 && n <= 2);
        assert ack(m, n) != 7; // BUG
    }
}
