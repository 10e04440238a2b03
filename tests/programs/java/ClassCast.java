// EXPECT: class-cast
import org.sosy_lab.sv_benchmarks.Verifier;

public class ClassCast {
    public static void main(String[] arguments) {
        Object o = Verifier.nondetBoolean() ? "text" : Integer.valueOf(3);
        String s = (String) o; // BUG
        assert s.length() == 4;
    }
}
