/* Calendars: from seconds to dates and text, and back. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(void) {
  static const time_t moments[] = {0, 1, -1, 951782400, 1700000000, 4102444800, 253402300799, -2208988800};
  char text[256];
  for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
    struct tm utc, local;
    gmtime_r(&moments[i], &utc);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %a %A %b %B %j %U %W %V %G %u %w %y %C %e %I %p %D %T %R %F %c %x %X %s %% %n%t|", &utc);
    puts(text);
    localtime_r(&moments[i], &local);
    printf("%s %ld %ld %s", local.tm_zone, (long)mktime(&local), (long)timegm(&utc), asctime(&utc));
  }
  setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
  tzset();
  for (size_t i = 3; i < 6; i++) {
    struct tm local;
    localtime_r(&moments[i], &local);
    strftime(text, sizeof text, "%F %T %Z %z", &local);
    printf("%s %d %ld\n", text, local.tm_isdst, timezone);
  }
  struct tm parsed;
  memset(&parsed, 0, sizeof parsed);
  char *rest = strptime("2024-02-29 13:14:15 Thu rest", "%Y-%m-%d %H:%M:%S %a", &parsed);
  printf("%d %d %d %d %s\n", parsed.tm_year, parsed.tm_mon, parsed.tm_mday, parsed.tm_sec, rest);
  struct tm odd = {.tm_year = 124, .tm_mon = 13, .tm_mday = 35, .tm_hour = -5};
  printf("%ld %.0f\n", (long)timegm(&odd), difftime(100, 40));
  struct timespec finest;
  int status = clock_getres(CLOCK_REALTIME, &finest);
  printf("%d %ld %ld\n", status, (long)finest.tv_sec, finest.tv_nsec);
  return 0;
}
