// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class RecursionFib {
    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    public static void main(String[] arguments) {
        int n = Verifier.nondetInt();
        Verifier.assume(n >= 0 && n <= 8);
        assert fib(n) <= 21;
    }
}
