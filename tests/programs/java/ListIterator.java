// EXPECT: exception
import java.util.ArrayList;
import java.util.List;
import org.sosy_lab.sv_benchmarks.Verifier;

public class ListIterator {
    public static void main(String[] arguments) {
        List<Integer> list = new ArrayList<>();
        list.add(1);
        list.add(2);
        list.add(3);
        int x = Verifier.nondetInt();
        for (Integer each : list) { // BUG
            if (each == x) {
                list.remove(each);
            }
        }
    }
}
