// An index equal to its element in an ascending array: by bisection, then from the left.
public class MagicIndex {
    public static void main(String[] arguments) {
        int[] number = Numbers.choose(arguments);
        for (int i = 1; i < number.length; i++)
            if (number[i - 1] >= number[i]) return;
        int low = 0, high = number.length - 1, found = -1;
        while (low <= high) {
            int middle = (low + high) / 2;
            if (number[middle] == middle) {
                found = middle;
                break;
            }
            if (number[middle] < middle) low = middle + 1;
            else high = middle - 1;
        }
        int first = -1;
        for (int i = 0; i < number.length && first < 0; i++)
            if (number[i] == i) first = i;
        assert (found < 0) == (first < 0);
    }
}
