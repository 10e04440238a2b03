// Shortest paths from one node of a complete graph with symbolic lengths.
import org.sosy_lab.sv_benchmarks.Verifier;

public class Dijkstra {
    public static void main(String[] arguments) {
        int size = Integer.parseInt(arguments[0]);
        int[][] length = new int[size][size];
        int[] distance = new int[size];
        boolean[] done = new boolean[size];
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                length[i][j] = Verifier.nondetInt();
                Verifier.assume(length[i][j] > 0);
                Verifier.assume(length[i][j] < 100000);
            }
        for (int i = 1; i < size; i++) distance[i] = length[0][i];
        done[0] = true;
        for (int round = 1; round < size; round++) {
            int next = -1;
            for (int i = 0; i < size; i++)
                if (!done[i] && (next < 0 || distance[i] < distance[next])) next = i;
            done[next] = true;
            for (int i = 0; i < size; i++)
                if (!done[i] && distance[next] + length[next][i] < distance[i])
                    distance[i] = distance[next] + length[next][i];
        }
    }
}
