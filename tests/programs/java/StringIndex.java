// EXPECT: bounds
import org.sosy_lab.sv_benchmarks.Verifier;

public class StringIndex {
    public static void main(String[] arguments) {
        String s = "hello";
        int i = Verifier.nondetInt();
        Verifier.assume(i >= 0 && i <= 5);
        char c = s.charAt(i); // BUG
        assert c != 'z';
    }
}
