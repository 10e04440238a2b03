// Interned strings, enum classes, `Class` objects, hash tables of objects without hash codes of their own.
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

public class Classes {
    enum Size { SMALL, LARGE { int factor() { return 2; } }; int factor() { return 1; } }

    static class Node {}

    public static void main(String[] arguments) {
        String made = "li" + arguments.length;
        System.out.println((made.intern() == "li0") + " " + (new String("lit") == "lit"));
        System.out.println(new String("lit").intern() == "lit");
        System.out.println(Size.valueOf("LARGE").factor() + Size.values().length);
        try {
            Size.valueOf("OTHER");
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
        EnumMap<Size, String> map = new EnumMap<>(Size.class);
        map.put(Size.LARGE, "b");
        map.put(Size.SMALL, "a");
        System.out.println(map + " " + EnumSet.allOf(Size.class) + EnumSet.of(Size.SMALL).contains(Size.LARGE));
        System.out.println(Size.LARGE.getClass().getName() + " " + Size.LARGE.getDeclaringClass().getName());
        System.out.println(new int[0].getClass().getSimpleName() + " " + new String[0][0].getClass().getSimpleName());
        System.out.println(int.class + " " + String.class + " " + Runnable.class + " " + int[].class);
        System.out.println(Integer.class.getSuperclass().getName() + Integer.class.isInterface());
        System.out.println(Object.class.getSuperclass() + " " + new Object() {}.getClass().getSimpleName().length());
        Object text = "abc";
        System.out.println(String.class.cast(text) + String.class.isAssignableFrom(Object.class));
        System.out.println(Number.class.isInstance(1) + " " + Number.class.isAssignableFrom(Long.class));
        System.out.println(String.class.isInstance(1) + " " + Comparable.class.isInstance("x"));
        Map<Size, Integer> sizes = new HashMap<>();
        sizes.put(Size.SMALL, 1);
        sizes.put(Size.LARGE, 2);
        Set<Node> nodes = new HashSet<>();
        Node node = new Node();
        nodes.add(node);
        System.out.println(sizes.get(Size.LARGE) + " " + nodes.contains(node) + nodes.contains(new Node()));
        Integer[] numbers = List.of(1, 2, 3).toArray(new Integer[0]);
        System.out.println(numbers.length + Arrays.toString(Arrays.copyOf(new String[] {"a"}, 2)));
        System.out.println(Arrays.deepToString(new int[2][2]));
    }
}
