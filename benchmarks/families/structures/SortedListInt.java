// A sorted list: inserts symbolic numbers, then looks one up and removes one.
public class SortedListInt {
    static class Item {
        final int value;
        Item next;

        Item(int value, Item next) {
            this.value = value;
            this.next = next;
        }
    }

    Item list;

    void insert(int value) {
        Item before = null, at = list;
        while (at != null && at.value < value) {
            before = at;
            at = at.next;
        }
        Item fresh = new Item(value, at);
        if (before == null) list = fresh;
        else before.next = fresh;
    }

    int find(int value) {
        int place = 0;
        for (Item i = list; i != null && i.value <= value; i = i.next, place++)
            if (i.value == value) return place;
        return -1;
    }

    void remove(int value) {
        Item before = null, at = list;
        while (at != null && at.value != value) {
            before = at;
            at = at.next;
        }
        if (at == null) return;
        if (before == null) list = at.next;
        else before.next = at.next;
    }

    public static void main(String[] arguments) {
        int[] number = Numbers.choose(arguments);
        SortedListInt list = new SortedListInt();
        for (int i = 0; i < number.length - 2; i++) list.insert(number[i]);
        list.find(number[number.length - 2]);
        list.remove(number[number.length - 1]);
    }
}
