// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class CharRange {
    public static void main(String[] arguments) {
        char c = Verifier.nondetChar();
        assert c >= 0 && c <= 65535;
        assert (char) (c + 65536) == c;
    }
}
