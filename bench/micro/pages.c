#include "micro/pages.h"

#include "tools/websim/body.h"

void pages_each_of_websim(void (*visit)(void *context, const char *html, size_t len), void *context)
{
    char *plain[] = {(char[]){"websim"}, (char[]){"--plain"}};
    static struct websim_text text;
    struct websim_parameters parameters;
    struct websim_web web;
    struct websim_buffer html = {0};
    unsigned count = 0;
    websim_parameters_default(&parameters, 2, plain);
    parameters.hosts = 2000;
    parameters.pages = 50;
    websim_parameters_settle(&parameters, "bench");
    websim_web_init(&web, &parameters);
    websim_text_init(&text, parameters.seed);
    for (uint32_t i = 0; count < PAGES_OF_WEBSIM; i++) {
        struct websim_page page;
        struct websim_url url = {.host = i % 2000, .kind = WEBSIM_KIND_PAGE, .index = i / 2000};
        websim_page_init(&page, &web, url);
        if (url.index >= page.site.pages || page.status != 200)
            continue;
        html.len = 0;
        websim_body_write(&page, &text, &html);
        visit(context, html.data, html.len);
        count++;
    }
    websim_buffer_fini(&html);
}
