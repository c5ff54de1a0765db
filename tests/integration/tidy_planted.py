#!/usr/bin/env python3
"""tools/tidy finds each fault that is planted in a small tree, and nothing in the same tree without it."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TIDY = pathlib.Path(__file__).resolve().parents[2] / "tools" / "tidy"
CLEAN = {
    "lockfree/README.md": "# lockfree\n",
    "net/README.md": "# net: see [low](low.h)\n",
    "engine/README.md": "# engine: see [url](url/README.md)\n",
    "engine/url/README.md": "# url\n",
    "lockfree/atomic.h": "#pragma once\n#define lf_load(place, order) atomic_load_explicit(place, order)\n",
    "net/low.h": '#pragma once\n\n#include "lockfree/atomic.h"\n',
    "engine/url/noun.h": '#pragma once\n\n#include "net/low.h"\n',
    "engine/url/noun_parts.h": '#pragma once\n\n#include "engine/url/noun.h"\n',
    "engine/url/noun_write.c": '#include "engine/url/noun_parts.h"\n',
    "tests/unit/engine/url/noun.c": '#include "engine/url/noun_parts.h"\n',
    "engine/url/noun.c": '#include "engine/url/noun.h"\n\nint noun_read(_Atomic(int) *place)\n{\n'
                         "    return lf_load(place, acquire); /* A1 pairs with R1 in noun_write */\n}\n",
}
LONG = "void noun_long(void)\n{\n" + "    noun_step();\n" * 70 + "}\n"
PLANTED = [  # what tidy says, and the files that make it say so
    ("an include cycle: engine/url/noun.h -> engine/url/other.h -> engine/url/noun.h",
     {"engine/url/noun.h": '#pragma once\n#include "engine/url/other.h"\n',
      "engine/url/other.h": '#pragma once\n#include "engine/url/noun.h"\n'}),
    ("an include cycle: net/low.h -> net/low.h", {"net/low.h": '#pragma once\n#include "net/low.h"\n'}),
    ("may not include from engine/url", {"net/low.h": '#pragma once\n#include "engine/url/noun.h"\n'}),
    ("without a label", {"engine/url/noun.c": "int noun_read(void)\n{\n    return lf_load(place, acquire);\n}\n"}),
    ("without a label", {"engine/url/noun.c": "int noun_read(void)\n{\n    return lf_load(place,\n"
                                              "                   seq_cst);\n}\n"}),
    ("without a label", {"engine/url/noun.h": "#pragma once\n\nstatic inline int noun_read(void)\n{\n"
                                              "    return lf_load(place, acquire);\n}\n"}),
    ("net/low.c:3: an ordered atomic without a label", {"net/low.c": "int low_read(void)\n{\n    return lf_load(place, acquire);\n}\n"}),
    ("tools/lycosa/verb.c:1: may not include engine/crawl/loop.h",
     {"tools/lycosa/verb.c": '#include "engine/crawl/loop.h"\n'}),
    ("engine/url/other.c:1: may not include engine/url/noun_parts.h",
     {"engine/url/noun_parts.h": "#pragma once\n", "engine/url/other.c": '#include "engine/url/noun_parts.h"\n'}),
    ("noun_long has 73 lines", {"engine/url/noun.c": LONG}),
    ("has 5 parameters", {"engine/url/noun.c": "void noun_add(int a, int b, int c, int d, int e)\n{\n}\n"}),
    ("does not start with noun", {"engine/url/noun.c": "void verb(void)\n{\n}\n"}),
    ("banned call", {"engine/url/noun.c": "void noun_copy(void)\n{\n    strcpy(a, b);\n}\n"}),
    ("a blocking call", {"engine/url/noun.c": "void noun_wait(void)\n{\n    pthread_mutex_lock(&lock);\n}\n"}),
    ("leftover", {"engine/url/noun.c": "/* " + "TO" + "DO: the rest */\n"}),
    ("narrates a change", {"engine/url/noun.c": "/* This " + "now uses a table. */\n"}),
    ("robots/ has no README", {"engine/robots/robots.h": "#pragma once\n"}),
    ("116 lines, at most 115", {"net/README.md": "line\n" * 116}),
    ("a link to gone.c, which is not there", {"net/README.md": "see [it](gone.c)\n"}),
    ("an absolute path", {"notes.md": "see /" + "home/somebody/notes\n"}),
]


def tidy(files):
    """What tools/tidy prints for a tree of these files."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / "tools").mkdir(exist_ok=True)
        shutil.copy(TIDY, root / "tools" / "tidy")
        return subprocess.run([root / "tools" / "tidy"], capture_output=True, text=True).stdout


failed = [f"a clean tree: {tidy(CLEAN)}"] if tidy(CLEAN) else []
for expected, planted in PLANTED:
    said = tidy({**CLEAN, **planted})
    if expected not in said:
        failed.append(f"{sorted(planted)}: expected '{expected}', tidy said '{said.strip()}'")
print("\n".join(failed), end="\n" if failed else "")
sys.exit(1 if failed else 0)
