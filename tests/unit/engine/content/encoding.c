#include "engine/content/encoding.h"

#include "engine/content/limits.h"
#include "tests/support/check.h"

static const char *detected(const char *content_type, const char *document)
{
    return encoding_detect(slice_of(content_type), slice_of(document))->name;
}

TEST(labels_name_encodings)
{
    CHECK(encoding_find(SLICE("utf8")) == encoding_utf8);
    CHECK(encoding_find(SLICE(" UTF-8\n")) == encoding_utf8);
    CHECK(encoding_find(SLICE("latin1")) == encoding_windows_1252);
    CHECK(encoding_find(SLICE("ISO-8859-1")) == encoding_windows_1252);
    CHECK_STR(encoding_find(SLICE("gb2312"))->name, "GBK");
    CHECK_STR(encoding_find(SLICE("ks_c_5601-1987"))->name, "EUC-KR");
    CHECK(encoding_find(SLICE("utf-16"))->is_wide);
    CHECK(encoding_find(SLICE("utf")) == NULL);
    CHECK(encoding_find(SLICE("")) == NULL);
}

TEST(charset_is_found_in_a_content_type)
{
    CHECK_SLICE(encoding_charset(SLICE("text/html; charset=utf-8")), "utf-8");
    CHECK_SLICE(encoding_charset(SLICE("text/html;CharSet = \"koi8-r\"; x")), "koi8-r");
    CHECK_SLICE(encoding_charset(SLICE("text/html; charset='gbk'")), "gbk");
    CHECK_SLICE(encoding_charset(SLICE("text/html; charset=big5;x=y")), "big5");
    CHECK_SLICE(encoding_charset(SLICE("text/html; charsets; charset=x")), "x");
    CHECK_SLICE(encoding_charset(SLICE("text/html; charset=")), "");
    CHECK_SLICE(encoding_charset(SLICE("text/html; charset=\"x")), "");
    CHECK_SLICE(encoding_charset(SLICE("text/html")), "");
    CHECK_SLICE(encoding_charset(SLICE("charset")), "");
}

TEST(a_byte_order_mark_beats_all)
{
    CHECK_STR(detected("text/html; charset=koi8-r", "\xef\xbb\xbf<meta charset=gbk>"), "UTF-8");
    CHECK_STR(detected("text/html; charset=koi8-r", "\xff\xfe<"), "UTF-16LE");
    CHECK_STR(detected("", "\xfe\xff<"), "UTF-16BE");
    CHECK_INT(encoding_bom(SLICE("\xef\xbb\xbf")), 3);
    CHECK_INT(encoding_bom(SLICE("\xef\xbb")), 0);
    CHECK_INT(encoding_bom(SLICE("\xff\xfe")), 2);
}

TEST(the_header_beats_the_document)
{
    CHECK_STR(detected("text/html; charset=koi8-r", "<meta charset=gbk>"), "KOI8-R");
    CHECK_STR(detected("text/html; charset=nonsense", "<meta charset=gbk>"), "GBK");
}

TEST(the_document_declares_itself)
{
    CHECK_STR(detected("text/html", "<html><head><meta charset='windows-1251'>"), "windows-1251");
    CHECK_STR(detected("", "<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=Shift_JIS'>"),
              "Shift_JIS");
    CHECK_STR(detected("", "<!-- <meta charset=gbk> --><meta charset=big5>"), "Big5");
    CHECK_STR(detected("", "<meta name=x content='charset=gbk'>"), "UTF-8");
    CHECK_STR(detected("", "<meta charset=nonsense><meta charset=gbk>"), "GBK");
}

TEST(a_declaration_of_utf16_that_can_be_read_is_wrong)
{
    CHECK_STR(detected("", "<meta charset=utf-16>"), "UTF-8");
    CHECK_STR(detected("", "<meta charset=x-user-defined>"), "windows-1252");
}

TEST(declarations_count_at_the_beginning_only)
{
    char document[2 * ENCODING_PRESCAN_BYTES];
    memset(document, ' ', sizeof(document));
    strncpy(document + ENCODING_PRESCAN_BYTES - 5, "<meta charset=gbk>", 19);
    CHECK_STR(detected("", document), "UTF-8");
}

TEST(without_a_declaration_the_bytes_decide)
{
    CHECK_STR(detected("", "plain"), "UTF-8");
    CHECK_STR(detected("", "caf\xc3\xa9"), "UTF-8");
    CHECK_STR(detected("", "caf\xe9 au lait"), "windows-1252");
}
