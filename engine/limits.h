/* Every bound of the engine, with the reason for its value. One section per noun. */
#pragma once

/* url: servers refuse longer request lines (nginx and Apache stop at 8 KiB by default), and RFC 9110
 * section 4.1 asks for at least 8,000 octets. Offsets within a URL fit 16 bits. */
#define URL_BYTES_MAX 8192
/* url: a host name in text. DNS stops at 253; browsers let longer ones through to fail there, and the URL
 * standard's own cases hold names of 258. Beyond this it is no name of anything. */
#define URL_HOST_BYTES_MAX 1024
