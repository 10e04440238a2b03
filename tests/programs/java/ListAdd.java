// EXPECT: true
import java.util.ArrayList;
import java.util.List;
import org.sosy_lab.sv_benchmarks.Verifier;

public class ListAdd {
    public static void main(String[] arguments) {
        List<Integer> list = new ArrayList<>();
        int n = Verifier.nondetInt();
        Verifier.assume(n >= 0 && n <= 5);
        for (int i = 0; i < n; i++) {
            list.add(i);
        }
        assert list.size() == n;
        assert n == 0 || list.get(n - 1) == n - 1;
    }
}
