// EXPECT: assert
import org.sosy_lab.sv_benchmarks.Verifier;

public class NarrowCast {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        Verifier.assume(x >= 0 && x < 256);
        assert (byte) x == x; // BUG
    }
}
