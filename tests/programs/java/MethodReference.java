// EXPECT: assert
import java.util.function.BinaryOperator;
import org.sosy_lab.sv_benchmarks.Verifier;

public class MethodReference {
    public static void main(String[] arguments) {
        BinaryOperator<Integer> f = Math::max;
        int x = Verifier.nondetInt();
        assert f.apply(x, 10) > 10; // BUG
    }
}
