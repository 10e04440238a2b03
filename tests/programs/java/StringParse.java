// EXPECT: number-format
import org.sosy_lab.sv_benchmarks.Verifier;

public class StringParse {
    public static void main(String[] arguments) {
        String s = Verifier.nondetBoolean() ? "12" : "1x";
        int n = Integer.parseInt(s); // BUG
        assert n == 12;
    }
}
