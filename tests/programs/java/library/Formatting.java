// `String.format`, `printf` and character sets.
import java.nio.charset.StandardCharsets;
import java.util.IllegalFormatException;

public class Formatting {
    public static void main(String[] arguments) throws Exception {
        System.out.println(String.format("%d|%5d|%-5d|%05d|%x|%X|%c|%b|%n", 42, 42, 42, 42, 255, 255, 'c', true));
        System.out.println(String.format("%s|%10s|%-10s|%.3s|%2$s %1$s", "one", "right", "left", "truncate"));
        System.out.printf("%f %.2f %10.3f %e %g%%\n", 1.5, 2.345, 3.14159, 12345.678, 0.00012345);
        System.out.println(String.format("%,d %+d %(d %o %h", 1234567, 5, -5, 8, "hi"));
        System.out.format("%s %s%n", (Object) null, 0);
        try {
            String.format("%d", "text");
        } catch (IllegalFormatException e) {
            System.out.println(e.getMessage());
        }
        byte[] bytes = "h\u00e9llo".getBytes();
        System.out.println(bytes.length + " " + "h\u00e9llo".getBytes(StandardCharsets.ISO_8859_1).length);
        System.out.println("h\u00e9llo".getBytes("UTF-8").length + new String(bytes, StandardCharsets.UTF_8));
        System.out.println(new String(new byte[] {65, 66}) + StandardCharsets.UTF_8);
    }
}
