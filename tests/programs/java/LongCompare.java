// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class LongCompare {
    public static void main(String[] arguments) {
        long a = Verifier.nondetLong();
        long b = Verifier.nondetLong();
        int c = Long.compare(a, b);
        assert (c < 0) == (a < b);
        assert (c == 0) == (a == b);
    }
}
