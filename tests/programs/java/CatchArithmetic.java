// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class CatchArithmetic {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        int y;
        try {
            y = 10 / x;
        } catch (ArithmeticException e) {
            assert x == 0;
            y = 0;
        }
        assert y <= 10 && y >= -10;
    }
}
