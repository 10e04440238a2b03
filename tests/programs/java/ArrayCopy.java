// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class ArrayCopy {
    public static void main(String[] arguments) {
        int[] a = {1, 2, 3, 4};
        int n = Verifier.nondetInt();
        Verifier.assume(n >= 0 && n <= 3);
        System.arraycopy(a, 0, a, 1, n);
        assert n == 0 || a[1] == 1;
    }
}
