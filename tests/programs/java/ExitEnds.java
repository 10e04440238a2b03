// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class ExitEnds {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        if (x > 10) {
            System.exit(0);
        }
        assert x <= 10;
    }
}
