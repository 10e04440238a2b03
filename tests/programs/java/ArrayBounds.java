// EXPECT: bounds
import org.sosy_lab.sv_benchmarks.Verifier;

public class ArrayBounds {
    public static void main(String[] arguments) {
        int[] a = new int[4];
        int i = Verifier.nondetInt();
        if (i >= 0 && i <= 4) {
            a[i] = 1; // BUG
        }
    }
}
