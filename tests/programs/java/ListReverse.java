// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class ListReverse {
    static final class Node {
        int value;
        Node next;

        Node(int value, Node next) {
            this.value = value;
            this.next = next;
        }
    }

    public static void main(String[] arguments) {
        Node head = null;
        int n = Verifier.nondetInt();
        Verifier.assume(n >= 0 && n <= 4);
        for (int i = 0; i < n; i++) {
            head = new Node(i, head);
        }
        Node reversed = null;
        while (head != null) {
            Node next = head.next;
            head.next = reversed;
            reversed = head;
            head = next;
        }
        int i = 0;
        for (Node each = reversed; each != null; each = each.next) {
            assert each.value == i++;
        }
        assert i == n;
    }
}
