// EXPECT: true
import org.sosy_lab.sv_benchmarks.Verifier;

public class SwitchEnum {
    enum Color {
        RED,
        GREEN,
        BLUE
    }

    public static void main(String[] arguments) {
        Color c = Color.values()[Verifier.nondetBoolean() ? 0 : 2];
        switch (c) {
            case RED:
                assert c.ordinal() == 0;
                break;
            case BLUE:
                assert c.name().equals("BLUE");
                break;
            default:
                assert false;
        }
    }
}
