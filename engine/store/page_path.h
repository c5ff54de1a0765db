/* The name of the file that a page is stored in, for `store.kind = directory`. No I/O.
 *
 *     https://example.org/                       example.org/@index.page
 *     https://example.org/blog/                  example.org/blog/@index.page
 *     https://example.org/blog                   example.org/blog.page
 *     https://example.org/a/b.html               example.org/a/b.html
 *     https://example.org/find.php?q=x&n=2       example.org/find.php@q=x&n=2
 *     https://example.org/v1.2/a%20b             example.org/v1%2E2/a%2520b.page
 *     https://example.org:8443/x.png             example.org_8443/x.png
 *     http://example.org/x.png                   example.org_http/x.png
 *     https://example.org//x.png                 example.org/@/x.png
 *
 * The rules. A byte of the URL other than A-Z a-z 0-9 - _ . ~ = & + , becomes %XX ('%' is %25). So do a dot at the
 * start or the end of a part, any dot in the name of a folder below that of the host, and in the host's all but
 * letters, digits, '-' and '.'. '@' is therefore free: it stands for an empty segment ("@", as a file "@index"), for
 * the '?' of the query, and behind userinfo. '_' is free in the host's name: it comes before a port and before
 * "http"; https goes without saying. A file's name that has no dot or that ends in ".page" gets ".page".
 *
 * A name longer than PAGE_PATH_NAME_BYTES_MAX keeps its start, followed by "@@" and the SHA-1 of the segment
 * and the query as the URL has them; a file's ends in ".page". A path that is too long is HOST/@@SHA-1.page, by the
 * SHA-1 of the URL.
 *
 * Why no two URLs (without their fragments) share a path, nor a file and a folder a name:
 * - %XX is undone in one way, since '%' stands for nothing else. '@' and '_' above are free, so that the parts of a
 *   name can be told apart. ".page" is undone in one way: a name that ends in it always got it.
 * - "@@" is in no other name: a query's '@' follows at least one byte that is no '@'. The path that was too long has
 *   it at the start of a name, a name that was cut behind its first bytes.
 * - Where something was cut the argument is SHA-1's: whoever makes two URLs collide overwrites a page of their own
 *   host, for the host's name is in the path.
 * - Below the host's folder the name of a file has a dot, that of a folder has none. The host's has no file beside it.
 *
 * Names that differ by case only are different files, as on any file system but those of Windows and macOS: there,
 * one of them would overwrite the other. */
#pragma once

#include <stddef.h>

#include "engine/store/limits.h"
#include "engine/url/url.h"

/* Writes the path, relative and with a NUL behind it, to `buffer` of PAGE_PATH_BYTES_MAX bytes. Returns its length
 * without the NUL. There is at least one folder in it, no name is empty or begins with a dot. */
size_t page_path_write(char *buffer, const struct url *url);
