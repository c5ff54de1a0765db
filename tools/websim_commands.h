/* The subcommands of websim: each takes its own argument vector and returns an exit code. */
#pragma once

int websim_truth_main(int argc, char **argv);
int websim_seeds_main(int argc, char **argv);
int websim_zone_main(int argc, char **argv);
int websim_faults_main(int argc, char **argv);
