// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class DoubleToInt {
    public static void main(String[] arguments) {
        double d = Verifier.nondetDouble();
        Verifier.assume(d > 1e10);
        assert (int) d == Integer.MAX_VALUE;
    }
}
