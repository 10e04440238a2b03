// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class InterfaceDefault {
    interface Greeter {
        int once();

        default int twice() {
            return once() * 2;
        }
    }

    public static void main(String[] arguments) {
        Greeter g = () -> Verifier.nondetInt();
        int x = g.twice();
        assert x % 2 == 0;
    }
}
