/* The tuning file, read again: by a crawl that runs, and step by step. */
#include "tests/unit/engine/crawl/crawl_frame.h"

/* A crawl of a port where nobody listens, and what it is told and says. */
struct scene {
    struct trial trial;
    char path[TRIAL_PATH_BYTES]; /* of the tuning file */
    int port;                    /* where nobody listens */
    const char *next;            /* what the file says at the first tick */
    unsigned notes;
    char note[768];
};

static void write_tuning(struct scene *scene, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text,
             "[memory]\nsieve = 1MiB\nfrontier = 1MiB\nhosts = 16\n[store]\nkind = none\n"
             "[state]\nreserve = 0\n[net]\nconnections = 4\n[crawl]\npin = no\nthreads = 2\n%s",
             more);
    trial_write(&scene->trial, "my.ini", text);
}

static void on_note(void *owner, const char *line)
{
    struct scene *scene = owner;
    scene->notes++;
    snprintf(scene->note, sizeof scene->note, "%s", line);
}

static void scene_init(struct scene *scene, const char *tuning)
{
    struct trial *trial = &scene->trial;
    memset(scene, 0, sizeof *scene);
    trial_init(trial);
    scene->port = trial_seed_in_vain(trial);
    write_tuning(scene, tuning);
    trial->options.tuning_path = trial_path(trial, "my.ini", scene->path);
    tuning_init(&trial->tuning);
    CHECK(tuning_load(&trial->tuning, scene->path, &trial->error));
    trial->options.hooks = (struct crawl_hooks){.owner = scene, .on_note = on_note};
}

static void scene_fini(struct scene *scene)
{
    close(scene->port);
    trial_fini(&scene->trial);
}

static bool is_adopted(const struct crawl *crawl)
{
    for (unsigned i = 0; i < crawl->loop_count; i++)
        if (lf_load(&crawl->loops[i].adopted, acquire) != crawl_tuning(crawl))
            return false;
    return true;
}

static void reload_once(void *owner, struct crawl *crawl)
{
    struct scene *scene = owner;
    if (!crawl->loops) /* the seeds are being read */
        return;
    if (scene->next) {
        write_tuning(scene, scene->next);
        crawl_reload(crawl);
        scene->next = NULL;
    }
}

/* The first file has no end: only the second lets the test end. */
TEST(a_running_crawl_obeys_the_new_file)
{
    static struct scene scene;
    scene_init(&scene, "max-time = 0s\n");
    scene.trial.options.hooks.on_tick = reload_once;
    scene.next = "max-time = 200ms\n";
    CHECK(trial_run(&scene.trial));
    CHECK_STR(end_name(scene.trial.crawl.end.why), "time");
    CHECK_INT(scene.notes, 1);
    CHECK(strstr(scene.note, "tuning reloaded from ") && strstr(scene.note, scene.path));
    scene_fini(&scene);
}

TEST(keys_that_cannot_change_are_named_and_the_others_are_taken)
{
    static struct scene scene;
    scene_init(&scene, "");
    scene.trial.options.hooks.on_tick = reload_once;
    scene.next = "agent-name = other\nmax-time = 200ms\n";
    CHECK(trial_run(&scene.trial));
    CHECK_STR(end_name(scene.trial.crawl.end.why), "time");
    CHECK(strstr(scene.note, "'agent-name' cannot change while a crawl runs") != NULL);
    scene_fini(&scene);
}

/* Reloads until a number of them is in force in every loop, then stops. */
static void reload_often(void *owner, struct crawl *crawl)
{
    struct scene *scene = owner;
    char text[64];
    if (!crawl->loops || (scene->notes && !is_adopted(crawl)) ||
        lf_load(&crawl->reloads_asked, relaxed) != scene->notes)
        return;
    CHECK_INT(crawl_tuning(crawl)->live.crawl.max_pages, scene->notes ? 1000 + scene->notes : 0);
    if (scene->notes == 10) {
        crawl_stop(crawl);
        return;
    }
    snprintf(text, sizeof text, "max-pages = %u\n", 1000 + scene->notes + 1);
    write_tuning(scene, text);
    crawl_reload(crawl);
}

TEST(every_loop_takes_up_every_reload)
{
    static struct scene scene;
    scene_init(&scene, "");
    scene.trial.options.hooks.on_tick = reload_often;
    CHECK(trial_run(&scene.trial));
    CHECK_STR(end_name(scene.trial.crawl.end.why), "signal");
    CHECK_INT(scene.notes, 10);
    scene_fini(&scene);
}

/* Without threads: the housekeeper's part and the watch's part by hand. */

static void reload(struct scene *scene, const char *text)
{
    struct crawl *crawl = &scene->trial.crawl;
    write_tuning(scene, text);
    crawl_reload(crawl);
    crawl_read_tuning(crawl, 0);
    crawl_adopt_tuning(crawl, 0);
}

static void end(struct scene *scene)
{
    crawl_free_reloads(&scene->trial.crawl);
    free(scene->trial.crawl.loops);
}

TEST(a_file_with_a_mistake_changes_nothing)
{
    static struct scene scene;
    scene_init(&scene, "max-pages = 5\n");
    const struct crawl *crawl = trial_begin_bare(&scene.trial);
    const struct tuning *before = crawl_tuning(crawl);
    reload(&scene, "max-pages = 6\nmax-pagse = 7\n");
    CHECK(crawl_tuning(crawl) == before);
    CHECK(strstr(scene.note, "tuning not reloaded: ") && strstr(scene.note, "max-pagse"));
    CHECK_INT(unlink(scene.path), 0);
    crawl_reload(&scene.trial.crawl);
    crawl_read_tuning(&scene.trial.crawl, 0);
    crawl_adopt_tuning(&scene.trial.crawl, 0);
    CHECK(crawl_tuning(crawl) == before);
    CHECK(strstr(scene.note, "No such file") != NULL);
    reload(&scene, "max-pages = 8\n"); /* the mistake is mended */
    CHECK_INT(crawl_tuning(crawl)->live.crawl.max_pages, 8);
    end(&scene);
    scene_fini(&scene);
}

TEST(the_command_line_stands_over_a_reload)
{
    static struct scene scene;
    scene_init(&scene, "");
    scene.trial.options.overrides.max_pages = 7;
    scene.trial.options.overrides.threads = 2;
    const struct crawl *crawl = trial_begin_bare(&scene.trial);
    reload(&scene, "max-pages = 9\nmax-time = 3s\n");
    CHECK_INT(crawl_tuning(crawl)->live.crawl.max_pages, 7);
    CHECK_INT(crawl_tuning(crawl)->live.crawl.max_time_ns, 3 * CLOCK_NS_PER_S);
    CHECK(strstr(scene.note, "tuning reloaded from ") != NULL);
    end(&scene);
    scene_fini(&scene);
}

/* The file is read when it is asked for, not before, and once for all who asked meanwhile. */
TEST(requests_that_come_together_are_one_reload)
{
    static struct scene scene;
    scene_init(&scene, "max-pages = 1\n");
    struct crawl *crawl = trial_begin_bare(&scene.trial);
    write_tuning(&scene, "max-pages = 2\n");
    crawl_read_tuning(crawl, 0);
    crawl_adopt_tuning(crawl, 0);
    CHECK_INT(crawl_tuning(crawl)->live.crawl.max_pages, 1);
    crawl_reload(crawl);
    crawl_reload(crawl);
    crawl_read_tuning(crawl, 0);
    crawl_reload(crawl); /* after the file was read: it counts again, once the watch has taken the first */
    write_tuning(&scene, "max-pages = 3\n");
    crawl_read_tuning(crawl, 0);
    crawl_adopt_tuning(crawl, 0);
    CHECK_INT(crawl_tuning(crawl)->live.crawl.max_pages, 2);
    crawl_read_tuning(crawl, 0);
    crawl_adopt_tuning(crawl, 0);
    CHECK_INT(crawl_tuning(crawl)->live.crawl.max_pages, 3);
    crawl_read_tuning(crawl, 0);
    crawl_adopt_tuning(crawl, 0);
    CHECK_INT(scene.notes, 2);
    end(&scene);
    scene_fini(&scene);
}

/* A slow loop may take up a snapshot when a newer one is in force already. The sanitizer sees one freed too early. */
TEST(a_snapshot_outlives_the_loop_that_is_late)
{
    static struct scene scene;
    scene_init(&scene, "");
    struct crawl *crawl = trial_begin_bare(&scene.trial);
    reload(&scene, "max-pages = 1\n");
    const struct tuning *first = crawl_tuning(crawl);
    lf_store(&crawl->loops[0].adopted, first, relaxed);
    reload(&scene, "max-pages = 2\n");
    const struct tuning *second = crawl_tuning(crawl);
    lf_store(&crawl->loops[0].adopted, second, relaxed);
    reload(&scene, "max-pages = 3\n");
    crawl_adopt_tuning(crawl, 0);
    CHECK_INT(first->live.crawl.max_pages, 1);
    lf_store(&crawl->loops[1].adopted, first, relaxed); /* it saw the first one and comes only now */
    crawl_adopt_tuning(crawl, 0);
    CHECK_INT(first->live.crawl.max_pages, 1);
    CHECK_INT(second->live.crawl.max_pages, 2);
    lf_store(&crawl->loops[1].adopted, second, relaxed);
    crawl_adopt_tuning(crawl, 0); /* frees the first */
    CHECK_INT(second->live.crawl.max_pages, 2);
    CHECK_INT(crawl_tuning(crawl)->live.crawl.max_pages, 3);
    end(&scene);
    scene_fini(&scene);
}
