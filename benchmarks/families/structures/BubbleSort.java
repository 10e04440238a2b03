// Bubble sort that stops when a round has exchanged nothing.
public class BubbleSort {
    public static void main(String[] arguments) {
        int[] number = Numbers.choose(arguments);
        boolean swapped = true;
        for (int end = number.length - 1; end > 0 && swapped; end--) {
            swapped = false;
            for (int i = 0; i < end; i++)
                if (number[i] > number[i + 1]) {
                    int kept = number[i];
                    number[i] = number[i + 1];
                    number[i + 1] = kept;
                    swapped = true;
                }
        }
    }
}
