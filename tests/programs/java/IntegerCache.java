// EXPECT: assert
import org.sosy_lab.sv_benchmarks.Verifier;

public class IntegerCache {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        Verifier.assume(x >= 127 && x <= 128);
        Integer a = x;
        Integer b = x;
        assert a == b; // BUG
    }
}
