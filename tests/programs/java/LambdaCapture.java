// EXPECT: true
import java.util.function.IntUnaryOperator;
import org.sosy_lab.sv_benchmarks.Verifier;

public class LambdaCapture {
    public static void main(String[] arguments) {
        int base = Verifier.nondetInt();
        IntUnaryOperator f = x -> x ^ base;
        assert f.applyAsInt(f.applyAsInt(5)) == 5;
    }
}
