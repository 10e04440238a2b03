// EXPECT: true
import java.util.function.Function;
import org.sosy_lab.sv_benchmarks.Verifier;

public class Generics {
    static final class Box<T> {
        private final T value;

        Box(T value) {
            this.value = value;
        }

        T get() {
            return value;
        }

        <R> Box<R> map(Function<T, R> f) {
            return new Box<>(f.apply(value));
        }
    }

    public static void main(String[] arguments) {
        Box<Integer> b = new Box<>(Verifier.nondetInt());
        int x = b.get();
        assert b.map(y -> y + 1).get() == x + 1;
    }
}
