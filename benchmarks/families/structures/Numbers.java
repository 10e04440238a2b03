// Symbolic numbers for the programs in Java, as `numbers.h` has them for those in C. The size is the program's argument.
import org.sosy_lab.sv_benchmarks.Verifier;

final class Numbers {
    static final int LOW = -100000, HIGH = 100000;

    private Numbers() {}

    static int[] choose(String[] arguments) {
        int[] number = new int[Integer.parseInt(arguments[0])];
        for (int i = 0; i < number.length; i++) number[i] = Verifier.nondetInt();
        for (int i = 0; i < number.length; i++) {
            Verifier.assume(number[i] >= LOW);
            Verifier.assume(number[i] <= HIGH);
        }
        return number;
    }
}
