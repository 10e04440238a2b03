// EXPECT: negative-size
import org.sosy_lab.sv_benchmarks.Verifier;

public class ArrayNegative {
    public static void main(String[] arguments) {
        int n = Verifier.nondetInt();
        Verifier.assume(n < 3);
        Verifier.assume(n > -3);
        int[] a = new int[n]; // BUG
        assert a.length == n;
    }
}
