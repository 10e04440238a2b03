// EXPECT: exception
import org.sosy_lab.sv_benchmarks.Verifier;

public class UncaughtCustom {
    static final class Refused extends RuntimeException {
        Refused(String message) {
            super(message);
        }
    }

    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        if (x == 12345) {
            throw new Refused("no"); // BUG
        }
    }
}
