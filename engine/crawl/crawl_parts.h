/* What the files of crawl share with each other and with nobody else. */
#pragma once

#include "engine/crawl/crawl.h"

/* The tuning in force. Only for the watch; loops use the snapshot that they adopted. */
static inline const struct tuning *crawl_tuning(const struct crawl *crawl)
{
    return lf_load(&crawl->live, relaxed); /* only the watch writes it */
}

/* False, with a message. */
bool crawl_refuse(struct tuning_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Calls the hook, if there is one. */
void crawl_tick(struct crawl *crawl);

/* crawl_setup.c */
void crawl_override(struct tuning *tuning, const struct crawl_overrides *overrides);
/* What can be wrong with a tuning file whose every value is well-formed. */
bool crawl_check_tuning(struct crawl *crawl, struct tuning_error *error);
/* Allocates all parts. Call crawl_close_parts whatever it returns. */
bool crawl_open_parts(struct crawl *crawl, struct tuning_error *error);
void crawl_close_parts(struct crawl *crawl);

/* crawl_places.c: the crawl's directory. */
/* True if the directory exists, is empty and writable; `*made` tells whether it was created here. */
bool crawl_make_directory(const char *path, bool *made, struct tuning_error *error);
/* Takes a directory in which a crawl was begun: no other process may have it. */
bool crawl_lock_directory(struct crawl *crawl, struct tuning_error *error);
/* Writes the tuning and the seeds into it. */
bool crawl_make_places(struct crawl *crawl, struct tuning_error *error);
/* Makes room for what replaces memory. The directory is locked: another process may be using what is there. */
bool crawl_make_scratch(struct crawl *crawl, struct tuning_error *error);
/* Removes what replaced memory while the crawl ran. */
void crawl_remove_scratch(struct crawl *crawl);
void crawl_remove_places(struct crawl *crawl, bool made);

/* crawl_seeds.c */
/* Makes the scope from the hosts of the seeds. */
bool crawl_scope_seeds(struct crawl *crawl, struct tuning_error *error);
/* Pushes the seeds to the frontier, before the loops run. */
bool crawl_queue_seeds(struct crawl *crawl, struct tuning_error *error);
/* Gives the seeds of a resumed crawl the numbers that they had. */
bool crawl_name_seeds(struct crawl *crawl, struct tuning_error *error);

/* Gives the seed a number for crawl.log. The seed is stored as the crawl writes it. False if there is no memory. */
bool crawl_name_source(struct crawl *crawl, const struct url *url, uint32_t *number);
/* Whether a host is known to be elsewhere, while only this machine is visited. */
bool crawl_seeds_are_strange(const struct crawl *crawl, struct slice host);

/* crawl_added.c: seeds that come while it runs, and what a resumed crawl makes of them. */
struct loop;
/* The housekeeper's part. */
housekeeper_job crawl_keep_added;
/* Loop 0's part, once per turn. True: there are more. */
bool crawl_take_added(struct loop *loop);
/* The housekeeper's last steps, when the loops have ended: before the last commit, and after it. */
void crawl_take_rest(struct crawl *crawl);
void crawl_answer_rest(struct crawl *crawl);
/* By the watch, when nothing is left to fetch: whether that is the end. From then on no seeds come. */
bool crawl_shut_door(struct crawl *crawl);
/* What an earlier process was given while it ran. Before the loops run. */
bool crawl_restore_added(struct crawl *crawl, struct tuning_error *error);

/* crawl_question.c: a loop's part, once per turn. */
void crawl_answer_question(struct loop *loop);

/* crawl_checkpoint.c: the housekeeper's part. */
housekeeper_job crawl_keep_checkpoint;

/* crawl_resume.c */
/* Reads what the directory of a resumed crawl holds. Nothing is changed. */
bool crawl_look_back(struct crawl *crawl, struct tuning_error *error);
/* Brings back what was known: sieve, hosts, waiting URLs. Before the loops run. */
bool crawl_replay(struct crawl *crawl, struct tuning_error *error);

/* crawl_reload.c */
/* The housekeeper's part: read the file. */
housekeeper_job crawl_read_tuning;
/* The watch's part: publish it to the loops. */
housekeeper_job crawl_adopt_tuning;
void crawl_free_reloads(struct crawl *crawl);

/* crawl_holds.c: orders about single hosts. */
/* Reads what was held when the crawl was stopped. Before the loops run. */
bool crawl_read_holds(struct crawl *crawl, struct tuning_error *error);
/* The housekeeper's part: writes down what is held, and publishes it to the loops. */
housekeeper_job crawl_keep_holds;
void crawl_free_holds(struct crawl *crawl);

/* crawl_mill.c: the sieve on disk. */
bool crawl_init_mill(struct crawl *crawl, struct tuning_error *error);
/* Opens the sieve on disk and starts its thread, as soon as it is needed. 0 or a negative errno. */
int crawl_open_mill(struct crawl *crawl);
int crawl_start_mill(struct crawl *crawl);
/* Tells the mill whether the crawl waits for URLs. By the watch. */
void crawl_hurry_mill(struct crawl *crawl);

/* crawl_write.c: the housekeeper's other jobs. */
housekeeper_job crawl_write;
housekeeper_job crawl_sum;
housekeeper_job crawl_watch_disk;

/* crawl_progress.c: DIR/progress.tsv. */
/* Takes up the counters that an earlier process has left. Before the loops run. */
void crawl_begin_progress(struct crawl *crawl);
/* A line every ten seconds. By the housekeeper. */
housekeeper_job crawl_add_progress;
/* The last line. When the housekeeper has ended. */
void crawl_finish_progress(struct crawl *crawl);
/* Writes and reads the URLs that wait on disk. 0 or a negative errno. */
int crawl_serve_spills(struct crawl *crawl);
/* Makes room for a URL, or a batch of the harvest, before the housekeeper and the loops run. False: there is none, and if
 * the disk is why, crawl->disk_error says so. */
bool crawl_make_room(struct crawl *crawl);
/* Begins to keep the journal, if there is to be one. */
bool crawl_begin_writing(struct crawl *crawl, struct tuning_error *error);
/* Writes what is left after the loops have ended. */
void crawl_write_rest(struct crawl *crawl);
