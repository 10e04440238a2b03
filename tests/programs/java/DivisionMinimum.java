// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class DivisionMinimum {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        Verifier.assume(x == -1);
        assert Integer.MIN_VALUE / x == Integer.MIN_VALUE;
        assert Integer.MIN_VALUE % x == 0;
    }
}
