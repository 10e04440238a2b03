// sqlite3: compiles and executes any statement of six characters, in a database in memory.
#include <klee/klee.h>
#include <sqlite3.h>

int main(void) {
  char text[7];
  sqlite3 *database;
  sqlite3_stmt *statement;
  klee_make_symbolic(text, sizeof text, "text");
  klee_assume(text[6] == 0);
  if (sqlite3_open(":memory:", &database) != SQLITE_OK) return 1;
  if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) != SQLITE_OK) return 2;
  int found = sqlite3_step(statement);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return found == SQLITE_ROW ? 0 : 3;
}
