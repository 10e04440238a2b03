// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class ShiftMask {
    public static void main(String[] arguments) {
        int n = Verifier.nondetInt();
        assert (1 << n) == (1 << (n & 31));
        assert (1L << n) == (1L << (n & 63));
    }
}
