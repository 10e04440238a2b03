// A binary search tree: inserts symbolic numbers, then looks one up and removes one.
public class BinTree {
    static class Node {
        int value;
        Node left, right;

        Node(int value) {
            this.value = value;
        }
    }

    Node root;

    Node find(int value) {
        Node at = root;
        while (at != null && at.value != value) at = value < at.value ? at.left : at.right;
        return at;
    }

    void insert(int value) {
        Node parent = null, at = root;
        boolean left = false;
        while (at != null && at.value != value) {
            parent = at;
            if (value < at.value) {
                at = at.left;
                left = true;
            } else {
                at = at.right;
                left = false;
            }
        }
        if (at != null) return;
        put(parent, left, new Node(value));
    }

    void remove(int value) {
        Node parent = null, at = root;
        boolean left = false;
        while (at != null && at.value != value) {
            parent = at;
            if (value < at.value) {
                at = at.left;
                left = true;
            } else {
                at = at.right;
                left = false;
            }
        }
        if (at == null) return;
        if (at.left != null && at.right != null) {
            Node next = at.right;
            parent = at;
            left = false;
            while (next.left != null) {
                parent = next;
                next = next.left;
                left = true;
            }
            at.value = next.value;
            at = next;
        }
        put(parent, left, at.left != null ? at.left : at.right);
    }

    private void put(Node parent, boolean left, Node child) {
        if (parent == null) root = child;
        else if (left) parent.left = child;
        else parent.right = child;
    }

    public static void main(String[] arguments) {
        int[] number = Numbers.choose(arguments);
        BinTree tree = new BinTree();
        for (int i = 0; i < number.length - 2; i++) tree.insert(number[i]);
        tree.find(number[number.length - 2]);
        tree.remove(number[number.length - 1]);
    }
}
