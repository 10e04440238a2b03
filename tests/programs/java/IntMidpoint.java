// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class IntMidpoint {
    public static void main(String[] arguments) {
        int a = Verifier.nondetInt();
        int b = Verifier.nondetInt();
        Verifier.assume(a >= 0 && b >= a);
        int middle = (a + b) >>> 1;
        assert middle >= a && middle <= b;
    }
}
