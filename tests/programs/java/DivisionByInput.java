// EXPECT: arithmetic
import org.sosy_lab.sv_benchmarks.Verifier;

public class DivisionByInput {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        System.out.println(100 / x); // BUG
    }
}
