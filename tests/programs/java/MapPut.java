// EXPECT: true
import java.util.HashMap;
import java.util.Map;
import org.sosy_lab.sv_benchmarks.Verifier;

public class MapPut {
    public static void main(String[] arguments) {
        Map<String, Integer> map = new HashMap<>();
        int x = Verifier.nondetInt();
        map.put("a", x);
        map.put("b", 1);
        map.put("a", x + 1);
        assert map.size() == 2 && map.get("a") == x + 1 && !map.containsKey("c");
    }
}
