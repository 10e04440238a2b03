// The remainder of a division by repeated subtraction, for all combinations of signs, with a limit on the rounds.
import org.sosy_lab.sv_benchmarks.Verifier;

public class Remainder {
    static int of(int a, int b, int limit) {
        int rounds = 0, r;
        if (b == 0) return -1;
        if (a >= 0 && b > 0) {
            for (r = a; r >= b && rounds < limit; rounds++) r -= b;
        } else if (a < 0 && b > 0) {
            for (r = a; r < 0 && rounds < limit; rounds++) r += b;
        } else if (a >= 0) {
            for (r = a; r + b >= 0 && rounds < limit; rounds++) r += b;
        } else {
            for (r = a; r <= b && rounds < limit; rounds++) r -= b;
        }
        if (rounds < limit) {
            assert b > 0 ? r < b : r > b;
        }
        return rounds;
    }

    public static void main(String[] arguments) {
        int a = Verifier.nondetInt(), b = Verifier.nondetInt();
        Verifier.assume(a >= -1000);
        Verifier.assume(a <= 1000);
        Verifier.assume(b >= -1000);
        Verifier.assume(b <= 1000);
        of(a, b, Integer.parseInt(arguments[0]));
    }
}
