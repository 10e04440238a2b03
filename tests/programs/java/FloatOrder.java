// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class FloatOrder {
    public static void main(String[] arguments) {
        float a = Verifier.nondetFloat();
        float b = Verifier.nondetFloat();
        if (a < b) {
            assert !(b <= a);
        }
    }
}
