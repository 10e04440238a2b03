// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class SwitchInt {
    public static void main(String[] arguments) {
        int x = Verifier.nondetInt();
        int y;
        switch (x) {
            case 1:
                y = 10;
                break;
            case 1000:
                y = 20;
                break;
            default:
                y = 0;
        }
        assert y == (x == 1 ? 10 : x == 1000 ? 20 : 0);
    }
}
