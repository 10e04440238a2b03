// EXPECT: assert
import org.sosy_lab.sv_benchmarks.Verifier;

public class DoubleNaN {
    public static void main(String[] arguments) {
        double d = Verifier.nondetDouble();
        assert d == d; // BUG
    }
}
