// A binomial heap: inserts symbolic numbers, then removes the minimum until it is empty.
public class BinomialHeap {
    static final int DEGREES = 8;

    static class Tree {
        final int value;
        Tree child, sibling;

        Tree(int value) {
            this.value = value;
        }
    }

    final Tree[] heap = new Tree[DEGREES];

    void add(Tree tree, int degree) {
        for (; heap[degree] != null; degree++) {
            Tree other = heap[degree];
            heap[degree] = null;
            if (other.value < tree.value) {
                Tree kept = tree;
                tree = other;
                other = kept;
            }
            other.sibling = tree.child;
            tree.child = other;
        }
        heap[degree] = tree;
    }

    int removeLeast() {
        int least = -1;
        for (int i = 0; i < DEGREES; i++)
            if (heap[i] != null && (least < 0 || heap[i].value < heap[least].value)) least = i;
        Tree child = heap[least].child;
        int value = heap[least].value;
        heap[least] = null;
        for (int degree = least - 1; child != null; degree--) {
            Tree next = child.sibling;
            child.sibling = null;
            add(child, degree);
            child = next;
        }
        return value;
    }

    public static void main(String[] arguments) {
        int[] number = Numbers.choose(arguments);
        BinomialHeap heap = new BinomialHeap();
        for (int i = 0; i < number.length; i++) heap.add(new Tree(number[i]), 0);
        int last = heap.removeLeast();
        for (int i = 1; i < number.length; i++) {
            int next = heap.removeLeast();
            assert last <= next;
            last = next;
        }
    }
}
