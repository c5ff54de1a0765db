#include "engine/crawl/gate.h"

const char *gate_phase_name(enum crawl_phase phase)
{
    switch (phase) {
    case CRAWL_RUNNING:
        return "running";
    case CRAWL_PAUSED:
        return "paused";
    case CRAWL_STOPPING:
        return "stopping";
    case CRAWL_ENDING:
        return "ending";
    }
    return "";
}
