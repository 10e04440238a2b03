// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class RecordEquals {
    record Point(int x, long y) {}

    public static void main(String[] arguments) {
        Point a = new Point(Verifier.nondetInt(), 2);
        Point b = new Point(a.x(), 2);
        assert a.equals(b) && a.hashCode() == b.hashCode();
        assert !a.equals(new Point(a.x(), 3));
    }
}
