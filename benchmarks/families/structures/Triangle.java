// Triangles, each classified by its sides; the squares of right ones are products of symbolic numbers.
import org.sosy_lab.sv_benchmarks.Verifier;

public class Triangle {
    static final int NONE = 0, SCALENE = 1, ISOSCELES = 2, EQUILATERAL = 3, RIGHT = 4;

    static int kind(int a, int b, int c) {
        if (a <= 0 || b <= 0 || c <= 0) return NONE;
        if (a + b <= c || a + c <= b || b + c <= a) return NONE;
        if (a == b && b == c) return EQUILATERAL;
        if (a * a + b * b == c * c || a * a + c * c == b * b || b * b + c * c == a * a) return RIGHT;
        if (a == b || b == c || a == c) return ISOSCELES;
        return SCALENE;
    }

    public static void main(String[] arguments) {
        int size = Integer.parseInt(arguments[0]), kinds = 0;
        int[][] side = new int[size][3];
        for (int i = 0; i < size; i++)
            for (int j = 0; j < 3; j++) side[i][j] = Verifier.nondetByte() & 0xFF;
        for (int i = 0; i < size; i++)
            if (kind(side[i][0], side[i][1], side[i][2]) == RIGHT) kinds++;
    }
}
