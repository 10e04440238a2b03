// EXPECT: assert
import org.sosy_lab.sv_benchmarks.Verifier;

public class FinallyOverrides {
    @SuppressWarnings("finally")
    static int f(int x) {
        try {
            return 1;
        } finally {
            if (x == 42) {
                return 2;
            }
        }
    }

    public static void main(String[] arguments) {
        assert f(Verifier.nondetInt()) == 1; // BUG
    }
}
