// Compares insertion sort with merge sort on equal numbers.
public class Sorting {
    static void insertion(int[] a) {
        for (int i = 1; i < a.length; i++) {
            int value = a[i], at = i;
            for (; at > 0 && a[at - 1] > value; at--) a[at] = a[at - 1];
            a[at] = value;
        }
    }

    static void merge(int[] a, int[] room, int from, int to) {
        if (to - from < 2) return;
        int middle = (from + to) / 2, left = from, right = middle;
        merge(a, room, from, middle);
        merge(a, room, middle, to);
        for (int i = from; i < to; i++)
            room[i] = right == to || (left < middle && a[left] <= a[right]) ? a[left++] : a[right++];
        for (int i = from; i < to; i++) a[i] = room[i];
    }

    public static void main(String[] arguments) {
        int[] number = Numbers.choose(arguments);
        int[] other = new int[number.length];
        for (int i = 0; i < number.length; i++) other[i] = number[i];
        insertion(number);
        merge(other, new int[number.length], 0, number.length);
        for (int i = 0; i < number.length; i++) assert number[i] == other[i];
    }
}
