// EXPECT: assert
import org.sosy_lab.sv_benchmarks.Verifier;

public class SwitchString {
    public static void main(String[] arguments) {
        String[] names = {"one", "two", "three"};
        int i = Verifier.nondetInt();
        Verifier.assume(i >= 0 && i < 3);
        int n = 0;
        switch (names[i]) {
            case "one":
                n = 1;
                break;
            case "two":
                n = 2;
                break;
            default:
                n = 9;
        }
        assert n < 9; // BUG
    }
}
