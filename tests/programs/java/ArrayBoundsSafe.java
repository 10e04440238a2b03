// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class ArrayBoundsSafe {
    public static void main(String[] arguments) {
        int[] a = new int[4];
        int i = Verifier.nondetInt();
        if (i >= 0 && i < a.length) {
            a[i] = i;
            assert a[i] == i;
        }
    }
}
