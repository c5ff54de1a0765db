/* The command that serves the web: reads its options, opens the sockets, runs the threads. */
#pragma once

int websim_serve_main(int argc, char **argv);
