// A calculator that executes symbolic instructions on two registers.
import org.sosy_lab.sv_benchmarks.Verifier;

public class Operations {
    static int run(byte[] code, short[] value) {
        int a = 0, b = 1, faults = 0;
        for (int i = 0; i < code.length; i++) {
            switch (code[i]) {
                case 0: a += value[i]; break;
                case 1: a -= value[i]; break;
                case 2: b = value[i]; break;
                case 3:
                    if (b == 0) faults++;
                    else a = a * 3 - b;
                    break;
                case 4:
                    if (a > b) a = b;
                    break;
                case 5:
                    if (a + b > 1000) return 1;
                    break;
                case 6:
                    if (2 * a < b) {
                        int kept = a;
                        a = b;
                        b = kept;
                    }
                    break;
                default: return 2;
            }
        }
        return a > 100 && b < a ? 3 : faults;
    }

    public static void main(String[] arguments) {
        int size = Integer.parseInt(arguments[0]);
        byte[] code = new byte[size];
        short[] value = new short[size];
        for (int i = 0; i < size; i++) code[i] = Verifier.nondetByte();
        for (int i = 0; i < size; i++) value[i] = Verifier.nondetShort();
        run(code, value);
    }
}
