// EXPECT: null
import org.sosy_lab.sv_benchmarks.Verifier;

public class NullField {
    static final class Node {
        int value;
        Node next;

        Node(int value, Node next) {
            this.value = value;
            this.next = next;
        }
    }

    public static void main(String[] arguments) {
        Node n = Verifier.nondetBoolean() ? new Node(1, null) : null;
        assert n.value == 1; // BUG
    }
}
