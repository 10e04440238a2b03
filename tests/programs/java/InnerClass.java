// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class InnerClass {
    static class Outer {
        final int x;

        Outer(int x) {
            this.x = x;
        }

        class Inner {
            int get() {
                return x;
            }
        }
    }

    public static void main(String[] arguments) {
        Outer o = new Outer(Verifier.nondetInt());
        assert o.new Inner().get() == o.x;
    }
}
