// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class RemainderSign {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        int r = x % 7;
        assert r > -7 && r < 7;
        assert x >= 0 ? r >= 0 : r <= 0;
    }
}
