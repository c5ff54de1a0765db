/* The host of a URL: names and addresses as the URL standard reads and writes them. Private to url. */
#pragma once

#include "engine/url/url.h"
#include "engine/url/url_write.h"

/* Parses the host `text`, without port, and writes its serialisation. */
enum url_error url_host_write(struct url_writer *out, struct slice text);
