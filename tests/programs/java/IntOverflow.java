// EXPECT: assert
import org.sosy_lab.sv_benchmarks.Verifier;

public class IntOverflow {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        if (x > 0) {
            assert x + 1 > x; // BUG
        }
    }
}
