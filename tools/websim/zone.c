#include "tools/websim/zone.h"

#define TTL_S 3600

void websim_zone_write(const struct websim_web *web, FILE *out)
{
    char name[WEBSIM_NAME_BYTES];
    fprintf(out, "$ORIGIN .\n$TTL %d\n", TTL_S);
    fprintf(out, ". IN SOA ns.sim. hostmaster.sim. 1 3600 600 86400 %d\n. IN NS ns.sim.\n", TTL_S);
    fprintf(out, "ns.sim. IN A 127.0.0.1\n");
    for (uint32_t host = 0; host < web->parameters.hosts; host++) {
        enum websim_fault fault = websim_host_fault(web, host);
        uint32_t address = websim_host_address(web, host);
        websim_host_name(web, host, name);
        if (fault == WEBSIM_FAULT_NXDOMAIN)
            continue;
        if (fault == WEBSIM_FAULT_SERVFAIL || fault == WEBSIM_FAULT_DNSTIMEOUT)
            fprintf(out, "; %s. %s\n", name, websim_fault_word(fault));
        else
            fprintf(out, "%s. IN A %u.%u.%u.%u\n", name, address >> 24, address >> 16 & 255,
                    address >> 8 & 255, address & 255);
    }
}
