// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class InstanceOf {
    public static void main(String[] arguments) {
        Object o = Verifier.nondetBoolean() ? "text" : Integer.valueOf(3);
        if (o instanceof String) {
            assert ((String) o).length() == 4;
        } else {
            assert (Integer) o == 3;
        }
    }
}
