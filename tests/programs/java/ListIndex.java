// EXPECT: bounds
import java.util.ArrayList;
import java.util.List;
import org.sosy_lab.sv_benchmarks.Verifier;

public class ListIndex {
    public static void main(String[] arguments) {
        List<String> list = new ArrayList<>();
        list.add("a");
        int i = Verifier.nondetInt();
        Verifier.assume(i >= 0 && i < 2);
        assert list.get(i) != null; // BUG
    }
}
