// The median by counting, then the positions of the others relative to it.
public class Median {
    static int near(int[] number) {
        int size = number.length;
        for (int i = 0; i < size; i++) {
            int below = 0, equal = 0;
            for (int j = 0; j < size; j++)
                if (number[j] < number[i]) below++;
                else if (number[j] == number[i]) equal++;
            if (below <= size / 2 && below + equal > size / 2) {
                int near = 0;
                for (int j = 0; j < size; j++)
                    if (number[j] - number[i] < 10 && number[i] - number[j] < 10) near++;
                return near;
            }
        }
        throw new AssertionError("no median");
    }

    public static void main(String[] arguments) {
        near(Numbers.choose(arguments));
    }
}
