// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class FinallyRuns {
    static int f(int x) {
        int n = 0;
        try {
            n++;
            if (x == 5) {
                throw new IllegalStateException();
            }
        } catch (IllegalStateException e) {
            assert x == 5;
        } finally {
            n++;
        }
        return n;
    }

    public static void main(String[] arguments) {
        assert f(Verifier.nondetInt()) == 2;
    }
}
