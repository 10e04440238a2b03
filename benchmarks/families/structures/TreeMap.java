// A left-leaning red-black tree: inserts symbolic keys, then looks one up.
public class TreeMap {
    static class Node {
        final int key;
        boolean red = true;
        Node left, right;

        Node(int key) {
            this.key = key;
        }
    }

    static boolean isRed(Node n) {
        return n != null && n.red;
    }

    static Node rotateLeft(Node n) {
        Node up = n.right;
        n.right = up.left;
        up.left = n;
        up.red = n.red;
        n.red = true;
        return up;
    }

    static Node rotateRight(Node n) {
        Node up = n.left;
        n.left = up.right;
        up.right = n;
        up.red = n.red;
        n.red = true;
        return up;
    }

    static Node put(Node n, int key) {
        if (n == null) return new Node(key);
        if (key < n.key) n.left = put(n.left, key);
        else if (key > n.key) n.right = put(n.right, key);
        if (isRed(n.right) && !isRed(n.left)) n = rotateLeft(n);
        if (isRed(n.left) && isRed(n.left.left)) n = rotateRight(n);
        if (isRed(n.left) && isRed(n.right)) {
            n.red = true;
            n.left.red = n.right.red = false;
        }
        return n;
    }

    public static void main(String[] arguments) {
        int[] number = Numbers.choose(arguments);
        Node root = null;
        int last = number.length - 1;
        for (int i = 0; i < last; i++) {
            root = put(root, number[i]);
            root.red = false;
        }
        for (Node n = root; n != null; n = number[last] < n.key ? n.left : n.right)
            if (n.key == number[last]) return;
    }
}
