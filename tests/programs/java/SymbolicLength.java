// EXPECT: bounds
import org.sosy_lab.sv_benchmarks.Verifier;

public class SymbolicLength {
    public static void main(String[] arguments) {
        int length = Verifier.nondetInt();
        Verifier.assume(length > 0 && length <= 20);
        int[] numbers = new int[length];
        for (int i = 0; i < length; i++) numbers[i] = length - i;
        int[][] table = new int[length][2];
        assert table.length == numbers.length && table[length - 1].length == 2;
        if (length == 19) numbers[numbers[0]] = 1; // BUG
    }
}
