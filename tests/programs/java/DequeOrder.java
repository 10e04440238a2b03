// EXPECT: true
import java.util.ArrayDeque;
import java.util.Deque;
import org.sosy_lab.sv_benchmarks.Verifier;

public class DequeOrder {
    public static void main(String[] arguments) {
        Deque<Integer> d = new ArrayDeque<>();
        int x = Verifier.nondetInt();
        d.push(x);
        d.addLast(2);
        assert d.pop() == x && d.pollFirst() == 2 && d.isEmpty();
    }
}
