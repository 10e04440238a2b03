// Eight bytes where a request, a response, headers and a chunked body can have any.
#include "picohttpparser.h"
#include <klee/klee.h>
#include <string.h>

int main(void) {
  char text[9], request[64], response[64], headers[64], body[64];
  const char *method, *path, *message;
  size_t method_length, path_length, message_length, count = 4;
  int version, status;
  struct phr_header found[4];
  struct phr_chunked_decoder decoder = {0};
  klee_make_symbolic(text, sizeof text, "text");
  text[8] = 0;
  strcpy(request, "GET / HTTP/1.");
  memcpy(request + 13, text, 8);
  memcpy(request + 21, "\r\n\r\n", 5);
  int result = phr_parse_request(request, 25, &method, &method_length, &path, &path_length, &version, found, &count, 20);
  count = 4;
  strcpy(response, "HTTP/1.1 ");
  memcpy(response + 9, text, 8);
  memcpy(response + 17, "\r\n\r\n", 5);
  result += phr_parse_response(response, 21, &version, &status, &message, &message_length, found, &count, 0);
  count = 4;
  memcpy(headers, text, 8);
  memcpy(headers + 8, "\r\n\r\n", 5);
  result += phr_parse_headers(headers, 12, found, &count, 0);
  memcpy(body, text, 8);
  memcpy(body + 8, "\r\n0\r\n\r\n", 8);
  size_t left = 15;
  result += (int)phr_decode_chunked(&decoder, body, &left) + phr_decode_chunked_is_in_data(&decoder);
  return result > 0;
}
