// EXPECT: true
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.sosy_lab.sv_benchmarks.Verifier;

public class TableOfObjects {
    enum Kind { FIRST, SECOND }

    static class Node {}

    public static void main(String[] arguments) {
        Node one = new Node(), two = new Node();
        Set<Node> seen = new HashSet<>();
        seen.add(one);
        if (Verifier.nondetBoolean()) seen.add(two);
        assert seen.contains(one) && (seen.size() == 2) == seen.contains(two);
        Map<Kind, Integer> table = Verifier.nondetBoolean() ? new HashMap<>() : new EnumMap<>(Kind.class);
        int value = Verifier.nondetInt();
        table.put(Kind.SECOND, value);
        assert !table.containsKey(Kind.FIRST) && table.get(Kind.SECOND) == value;
    }
}
