// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class ArrayTwoDimensions {
    public static void main(String[] arguments) {
        int[][] m = new int[2][3];
        int i = Verifier.nondetInt();
        int j = Verifier.nondetInt();
        Verifier.assume(i >= 0 && i < 2 && j >= 0 && j < 3);
        m[i][j] = 7;
        int sum = 0;
        for (int[] row : m) {
            for (int x : row) {
                sum += x;
            }
        }
        assert sum == 7;
    }
}
