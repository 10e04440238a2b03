// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class ArrayClone {
    public static void main(String[] arguments) {
        int[] a = {1, 2, Verifier.nondetInt()};
        int[] b = a.clone();
        b[0] = 9;
        assert a[0] == 1 && b[2] == a[2];
    }
}
