// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class EnumMethod {
    enum Op {
        ADD {
            @Override
            int apply(int a, int b) {
                return a + b;
            }
        },
        SUBTRACT {
            @Override
            int apply(int a, int b) {
                return a - b;
            }
        };

        abstract int apply(int a, int b);
    }

    public static void main(String[] arguments) {
        Op op = Verifier.nondetBoolean() ? Op.ADD : Op.SUBTRACT;
        int x = Verifier.nondetInt();
        assert op.apply(op.apply(x, 3), op == Op.ADD ? -3 : -3) == x;
    }
}
