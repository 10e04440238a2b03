// EXPECT: assert
import org.sosy_lab.sv_benchmarks.Verifier;

public class ShiftUnsigned {
    public static void main(String[] arguments) {
        int n = Verifier.nondetInt();
        assert (n >>> 1) == (n >> 1); // BUG
    }
}
