// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class CatchOrder {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        String got = "";
        try {
            if (x > 0) {
                throw new IllegalArgumentException();
            }
            throw new RuntimeException();
        } catch (IllegalArgumentException e) {
            got = "narrow";
        } catch (RuntimeException e) {
            got = "wide";
        }
        assert got.equals(x > 0 ? "narrow" : "wide");
    }
}
