// EXPECT: null
import java.util.Map;
import java.util.TreeMap;
import org.sosy_lab.sv_benchmarks.Verifier;

public class MapUnboxNull {
    public static void main(String[] arguments) {
        Map<Integer, Integer> map = new TreeMap<>();
        map.put(1, 2);
        int x = Verifier.nondetInt();
        int y = map.get(x > 1 ? 1 : x); // BUG
        assert y == 2;
    }
}
