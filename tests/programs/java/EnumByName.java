// EXPECT: exception
import org.sosy_lab.sv_benchmarks.Verifier;

public class EnumByName {
    // The virtual machine, too, has the place of the declaration for the generated method `valueOf`.
    enum Colour { RED, GREEN, BLUE } // BUG

    public static void main(String[] arguments) {
        String[] names = {"RED", "GREEN", "BLUE", "green"};
        int index = Verifier.nondetInt();
        if (index < 0 || index >= names.length) return;
        Colour colour = Colour.valueOf(names[index]);
        assert colour.ordinal() == index;
    }
}
