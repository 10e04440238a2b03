// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class VirtualCall {
    static class Shape {
        int sides() {
            return 0;
        }
    }

    static class Square extends Shape {
        @Override
        int sides() {
            return 4;
        }
    }

    public static void main(String[] arguments) {
        Shape s = Verifier.nondetBoolean() ? new Square() : new Shape();
        assert s.sides() == (s instanceof Square ? 4 : 0);
    }
}
