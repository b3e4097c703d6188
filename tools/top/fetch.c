/* GET of fetch.h: HTTP/1.0, so that the page is what comes until the connection ends. */
#include "fetch.h"

#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PATIENCE_S = 5, PAGE_MAX = 64 << 20 };

static const char scheme[] = "http://";
static const char legal[] = "http://HOST[:PORT][/PATH]";

struct address {
    char host[256], port[8];
    const char *path;
};

__attribute__((format(printf, 3, 4))) static bool
refuse(char *why, size_t why_size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(why, why_size, format, arguments);
    va_end(arguments);
    return false;
}

bool
fetch_is_http(const char *address)
{
    return strncmp(address, scheme, sizeof scheme - 1) == 0;
}

/* A host of IPv6 stands in brackets. */
static bool
split(const char *text, struct address *address, char *why, size_t why_size)
{
    const char *host = text + sizeof scheme - 1, *port;
    bool brackets = *host == '[';
    size_t length = strcspn(host + brackets, brackets ? "]" : ":/");
    const char *rest = host + brackets + length;

    rest += brackets && *rest == ']' ? 1 : 0;
    port = *rest == ':' ? rest + 1 : "80";

    size_t digits = strspn(port, "0123456789");

    address->path = *rest == ':' ? port + digits : rest;
    if (length == 0 || length >= sizeof address->host || digits == 0 ||
        digits >= sizeof address->port || (*address->path != '\0' && *address->path != '/')) {
        return refuse(why, why_size, "%s: legal are %s and a file's name", text, legal);
    }
    memcpy(address->host, host + brackets, length);
    address->host[length] = '\0';
    memcpy(address->port, port, digits);
    address->port[digits] = '\0';
    if (address->path[strspn(address->path, "/")] == '\0') {
        address->path = "/metrics";
    }
    return true;
}

/* -1: nobody answers at any of the host's addresses. */
static int
reach(const struct address *address, char *why, size_t why_size)
{
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    struct addrinfo *list;
    int code = getaddrinfo(address->host, address->port, &wanted, &list), connection = -1;

    if (code != 0) {
        (void)refuse(why, why_size, "%s: %s", address->host, gai_strerror(code));
        return -1;
    }
    for (const struct addrinfo *one = list; one != NULL && connection < 0; one = one->ai_next) {
        connection = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol);
        if (connection < 0) {
            continue;
        }
        (void)setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        (void)setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        if (connect(connection, one->ai_addr, one->ai_addrlen) != 0) {
            (void)refuse(why, why_size, "%s port %s: %s", address->host, address->port,
                         strerror(errno));
            (void)close(connection);
            connection = -1;
        }
    }
    freeaddrinfo(list);
    return connection;
}

/* Up to the end of the file or the connection. NULL: it failed, or is longer than any page. */
static char *
read_all(int descriptor, char *why, size_t why_size)
{
    size_t length = 0, room = 1 << 16;
    char *text = malloc(room);
    ssize_t got = text != NULL ? 1 : -1;

    while (got > 0 && room <= PAGE_MAX) {
        if (length + 1 == room) {
            char *more = realloc(text, 2 * room);

            if (more == NULL) {
                got = -1;
                break;
            }
            text = more;
            room *= 2;
        }
        got = read(descriptor, text + length, room - length - 1);
        length += got > 0 ? (size_t)got : 0;
    }
    if (got != 0) {
        (void)refuse(why, why_size, "%s", got > 0 ? "more than 64 MiB" : strerror(errno));
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* The body of an answer. NULL: it is none of HTTP, or not 200. */
static char *
take_body(char *answer, char *why, size_t why_size)
{
    const char *body = strstr(answer, "\r\n\r\n");

    if (strncmp(answer, "HTTP/1.", 7) != 0 || body == NULL || strncmp(answer + 8, " 200", 4) != 0) {
        (void)refuse(why, why_size, "the answer is \"%.*s\", not HTTP's 200",
                     (int)(strcspn(answer, "\r\n") < 60 ? strcspn(answer, "\r\n") : 60), answer);
        free(answer);
        return NULL;
    }
    memmove(answer, body + 4, strlen(body + 4) + 1);
    return answer;
}

static char *
get(const char *text, char *why, size_t why_size)
{
    struct address address;
    char request[1024], words[200];

    if (!split(text, &address, why, why_size)) {
        return NULL;
    }
    int length = snprintf(request, sizeof request,
                          "GET %s HTTP/1.0\r\nHost: %s\r\nUser-Agent: schedq-top\r\n\r\n",
                          address.path, address.host);

    if (length < 0 || (size_t)length >= sizeof request) {
        (void)refuse(why, why_size, "%s: the path is too long", text);
        return NULL;
    }
    int connection = reach(&address, why, why_size);

    if (connection < 0) {
        return NULL;
    }
    char *answer = NULL;

    if (send(connection, request, (size_t)length, MSG_NOSIGNAL) != length) {
        (void)refuse(words, sizeof words, "%s", strerror(errno));
    } else {
        answer = read_all(connection, words, sizeof words);
        answer = answer != NULL ? take_body(answer, words, sizeof words) : NULL;
    }
    (void)close(connection);
    if (answer == NULL) {
        (void)refuse(why, why_size, "%s: %s", text, words);
    }
    return answer;
}

char *
fetch(const char *address, char *why, size_t why_size)
{
    if (fetch_is_http(address)) {
        return get(address, why, why_size);
    }
    FILE *file = fopen(address, "re");
    char words[200];

    if (file == NULL) {
        (void)refuse(why, why_size, "%s: %s; a server is %s", address, strerror(errno), legal);
        return NULL;
    }
    char *text = read_all(fileno(file), words, sizeof words);

    if (text == NULL) {
        (void)refuse(why, why_size, "%s: %s", address, words);
    }
    (void)fclose(file);
    return text;
}
