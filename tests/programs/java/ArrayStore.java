// EXPECT: exception
import org.sosy_lab.sv_benchmarks.Verifier;

public class ArrayStore {
    public static void main(String[] arguments) {
        Object[] a = Verifier.nondetBoolean() ? new String[1] : new Object[1];
        a[0] = Integer.valueOf(1); // BUG
    }
}
