// Records, patterns, switch expressions, text blocks, streams, big numbers.
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class Modern {
    sealed interface Shape permits Square, Circle {}

    record Square(int side, String name) implements Shape {}

    record Circle(double radius) implements Shape {}

    interface Task { default int twice() { return 2 * once(); } int once(); }

    static <T extends Comparable<T>> T largest(List<? extends T> list) {
        T best = null;
        for (T each : list) if (best == null || each.compareTo(best) > 0) best = each;
        return best;
    }

    public static void main(String[] arguments) {
        Shape shape = new Square(1, "z");
        if (shape instanceof Square s && s.side() == 1) System.out.println(s + " " + s.equals(new Square(1, "z")));
        System.out.println(switch (arguments.length + "") { case "0" -> 1; case "d" -> { yield 2; } default -> 3; });
        Task task = () -> 21;
        System.out.println(task.twice() + largest(List.of(3, 9, 2)));
        List<Integer> list = new ArrayList<>(List.of(5, 3, 8));
        list.sort(Comparator.reverseOrder());
        System.out.println(list.stream().map(x -> x * 2).filter(x -> x > 6).collect(Collectors.toList()));
        System.out.println(IntStream.range(0, 5).sum() + list.stream().mapToInt(x -> x).max().getAsInt());
        Map<String, Integer> words = new TreeMap<>();
        for (String word : "a b a c".split(" ")) words.merge(word, 1, Integer::sum);
        System.out.println(words + String.join(",", words.keySet()) + list.stream().toList());
        System.out.println(new BigInteger("123456789012345678901234567890").multiply(BigInteger.TEN));
        System.out.println(new BigDecimal("1.10").add(new BigDecimal("2.205")) + " " + new Random(5).nextInt(100));
        System.out.println("a1b22".replaceAll("[0-9]+", "#") + "x.y".split("\\.").length + "abc".matches("[a-c]*"));
        System.out.println("""
            block
              text""");
    }
}
