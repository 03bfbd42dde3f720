/* Pythons, their torch and the binding each would get, in trees made of files. */
#include "unit.h"

#include "../../doctor/bindings.h"
#include "../../doctor/probe.h"
#include "../../doctor/pyscan.h"

static void start(struct unit *u, struct probe *p)
{
	probe_init(p, &u->a, u->dir);
	p->home = "/root";
}

static void put_torch(struct unit *u, const char *site)
{
	unit_put(u, arena_printf(&u->a, "%s/torch/__init__.py", site), "");
	unit_put(u, arena_printf(&u->a, "%s/torch/version.py", site),
	    "__version__ = '2.10.0+cu128'\ndebug = False\ncuda: Optional[str] = '12.8'\n"
	    "hip: Optional[str] = None\n");
	unit_put(u, arena_printf(&u->a, "%s/torch-2.10.0.dist-info/METADATA", site),
	    "Name: torch\nRequires-Dist: triton==3.6.0; platform_system == \"Linux\"\n");
	unit_put(
	    u, arena_printf(&u->a, "%s/triton-3.6.0.dist-info/METADATA", site), "Name: triton\n");
}

static void put_venv(struct unit *u, const char *dir, const char *cfg)
{
	unit_put(u, arena_printf(&u->a, "%s/pyvenv.cfg", dir), cfg);
	unit_put(u, arena_printf(&u->a, "%s/bin/python", dir), "");
	unit_put(u, arena_printf(&u->a, "%s/lib/python3.11/site-packages/x.py", dir), "");
}

static const struct pyenv *find(const struct pyenvs *v, const char *dir)
{
	for (size_t i = 0; i < v->n; i++)
		if (!strcmp(v->v[i].dir, dir))
			return &v->v[i];
	fail_msg("no %s", dir);
	return NULL;
}

static void every_layout_is_found(void **state)
{
	struct unit *u = *state;
	struct probe p;
	struct pyenvs v = {0};
	start(u, &p);
	unit_put(u, "usr/bin/python3.11", "");
	unit_put(u, "usr/bin/python3.11-config", "");
	unit_put(u, "usr/lib/python3/dist-packages/debkit-causal-conv1d.pth",
	    "/usr/lib/debkit/python\n");
	put_venv(u, "opt/plain", "home = /usr/bin\n");
	put_venv(u, "root/app/.venv", "home = /usr/bin\nuv = 0.9\n");
	put_venv(
	    u, "srv/v", "home = /usr/bin\nvirtualenv = 20\ninclude-system-site-packages = true\n");
	unit_put(u, "opt/conda/conda-meta/history", "");
	unit_put(u, "opt/conda/lib/python3.12/site-packages/x.py", "");
	unit_put(u, "opt/conda/envs/gpu/conda-meta/history", "");
	unit_put(u, "opt/conda/envs/gpu/lib/python3.13/site-packages/x.py", "");
	unit_put(u, "root/.pyenv/versions/3.10.1/bin/python3", "");
	chmod(unit_path(u, "root/.pyenv/versions/3.10.1/bin/python3"), 0755);
	unit_put(u, "root/.pyenv/versions/3.10.1/lib/python3.10/site-packages/x.py", "");
	unit_put(u, "opt/empty/pyvenv.cfg", "");
	put_torch(u, "opt/plain/lib/python3.11/site-packages");
	pyscan_all(&p, &v);
	assert_int_equal(v.n, 8);
	assert_string_equal(find(&v, "/usr")->kind, "system");
	assert_non_null(find(&v, "/usr")->enabled_by);
	assert_string_equal(find(&v, "/opt/plain")->torch.version, "2.10.0+cu128");
	assert_string_equal(find(&v, "/opt/plain")->torch.wants_triton, "3.6.0");
	assert_null(find(&v, "/opt/plain")->enabled_by);
	assert_string_equal(find(&v, "/root/app/.venv")->kind, "uv");
	assert_string_equal(find(&v, "/srv/v")->kind, "virtualenv");
	assert_string_equal(find(&v, "/srv/v")->enabled_by,
	    "/usr/lib/python3/dist-packages/debkit-causal-conv1d.pth");
	assert_string_equal(find(&v, "/opt/conda")->kind, "conda");
	assert_string_equal(find(&v, "/opt/conda/envs/gpu")->tag, "cp313");
	assert_string_equal(find(&v, "/root/.pyenv/versions/3.10.1")->version, "3.10");
	assert_non_null(find(&v, "/opt/empty")->broken);
	probe_done(&p);
}

static void a_pth_counts_by_its_lines(void **state)
{
	assert_true(pyscan_pth_enables("/usr/lib/debkit/python\n"));
	assert_true(pyscan_pth_enables("# x\n/usr/lib/debkit/python \r\n"));
	assert_true(pyscan_pth_enables("/a\n/usr/lib/debkit/python"));
	assert_false(pyscan_pth_enables("#/usr/lib/debkit/python\n"));
	assert_false(pyscan_pth_enables("/usr/lib/debkit/python3\n"));
	assert_false(pyscan_pth_enables(" /usr/lib/debkit/python\n"));
	assert_false(pyscan_pth_enables(""));
}

static void names_of_dist_info(void **state)
{
	static const char *const bad[] = {"torch.dist-info", "-1.dist-info", "torch-.dist-info",
	    "torch-1.egg-info", "torch-1", ""};
	struct unit *u = *state;
	struct dist d;
	assert_true(dist_parse(&u->a, "Flash-Linear.Attention-0.6.0.dist-info", &d));
	assert_string_equal(d.name, "flash");
	assert_true(dist_parse(&u->a, "fla_core-0.6.0+x.dist-info", &d));
	assert_string_equal(d.name, "fla_core");
	assert_string_equal(d.version, "0.6.0+x");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(dist_parse(&u->a, bad[i], &d));
}

static void torch_as_its_files_tell(void **state)
{
	static const struct {
		const char *text, *version, *cuda, *rocm;
		bool names;
	} v[] = {{"__version__ = '2.11.0'\ncuda: Optional[str] = '13.0'\n", "2.11.0", "13.0", NULL,
		     true},
	    {"__version__ = \"2.11.0+cpu\"\ncuda = None\n", "2.11.0+cpu", NULL, NULL, true},
	    {"__version__ = '2.9.1'\nhip: Optional[str] = '6.4'\ncuda = None\n", "2.9.1", NULL,
		"6.4", true},
	    {" __version__ = '1'\n", NULL, NULL, NULL, false},
	    {"__version__ = '", NULL, NULL, NULL, false}};
	struct unit *u = *state;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		struct torch t = {0};
		torch_parse_version(&u->a, arena_strdup(&u->a, v[i].text), &t);
		assert_true(str_eq(t.version, v[i].version));
		assert_true(str_eq(t.cuda, v[i].cuda));
		assert_true(str_eq(t.rocm, v[i].rocm));
		assert_int_equal(t.names_cuda, v[i].names);
	}
	assert_null(torch_parse_triton(&u->a, "x\nRequires-Dist: triton>=3\n"));
	assert_string_equal(
	    torch_parse_triton(&u->a, "x\nRequires-Dist: triton (==3.1.0)\n"), "3.1.0");
}

/* The selector module is the judge: it chooses from the same tables. */
static void the_selectors_choice_is_made_again(void **state)
{
	static const char script[] =
	    "import importlib.util, sys, types\n"
	    "src = open('templates/causal-conv1d/causal_conv1d_cuda.py').read()\n"
	    "m = types.ModuleType('m'); m.__file__ = sys.argv[1] + '/usr/lib/debkit/python/m.py'\n"
	    "exec(src.rsplit('load()', 1)[0], m.__dict__)\n"
	    "bs = m.installed_bindings('x86_64-linux-gnu')\n"
	    "for tag in ('cp311', 'cp313', 'cp39'):\n"
	    "  for t, c in (('2.10.0', '12.8'), ('2.12.1', '12.8'), ('2.12.1', '13.0'), "
	    "('2.13.0+x', '13.0'),\n"
	    "               ('2.9.1', '12.8')):\n"
	    "    m.running_python = lambda tag=tag: (tag, 'x86_64-linux-gnu')\n"
	    "    m.installed_torch = lambda t=t, c=c: (t, c, '')\n"
	    "    try: print(m.choose()[0]['path'].split('/debkit/')[1])\n"
	    "    except ImportError: print('-')\n";
	static const char *const tags[] = {"cp311", "cp313", "cp39"};
	static const char *const torches[][2] = {{"2.10.0", "12.8"}, {"2.12.1", "12.8"},
	    {"2.12.1", "13.0"}, {"2.13.0+x", "13.0"}, {"2.9.1", "12.8"}};
	static const char cu128[] =
	    "File: a.so\nPython: cp311\nTorch: 2.10 2.11 2.12\nCuda: 12.8\n\n"
	    "File: b.so\nPython: cp311\nTorch: 2.12\nCuda: 12.8\n\n"
	    "File: c.so\nPython: cp313\nTorch: 2.10\nCuda: 12.8\nno field\n\n"
	    "File: d.so\nPython: cp39\nCuda: 12.8\n";
	static const char cu130[] =
	    "file: e.so\nPYTHON: cp311\ntorch: 2.13 2.12\n more\ncuda: 13.0\n";
	struct unit *u = *state;
	struct probe p;
	struct bindings b;
	_cleanup_(buf_done) struct buf got = BUF_INIT(4096);
	start(u, &p);
	unit_put(u, "usr/lib/x86_64-linux-gnu/debkit/causal-conv1d-cu128/bindings", cu128);
	unit_put(u, "usr/lib/x86_64-linux-gnu/debkit/causal-conv1d-cu130/bindings", cu130);
	unit_put(u, "usr/lib/x86_64-linux-gnu/debkit/other/bindings", cu130);
	unit_put(u, "script.py", script);
	bindings_read(&p, &b);
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		for (size_t k = 0; k < ARRAY_SIZE(torches); k++) {
			struct torch t = {.version = torches[k][0], .cuda = torches[k][1]};
			const struct binding *x = bindings_choose(&u->a, &b, tags[i], &t);
			if (x)
				buf_printf(&got, "%s/%s\n", x->folder, x->file);
			else
				buf_puts(&got, "-\n");
		}
	char cwd[4096];
	assert_non_null(getcwd(cwd, sizeof cwd));
	const char *want = unit_sh(
	    u, arena_printf(&u->a, "cd '%s' && python3 '%s/script.py' '%s'", cwd, u->dir, u->dir));
	assert_string_equal(arena_printf(&u->a, "%s\n", want), buf_str(&got));
	assert_string_equal(bindings_words(&u->a, &b),
	    "torch 2.10, 2.11 or 2.12 with CUDA 12.8 on Python 3.11 or 3.13 and torch 2.12 or 2.13 "
	    "with "
	    "CUDA 13.0 on Python 3.11");
	assert_string_equal(bindings_nearest(&u->a, &b, "cp313", "13.0")->file, "c.so");
	probe_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(every_layout_is_found),
	    CASE(a_pth_counts_by_its_lines),
	    CASE(names_of_dist_info),
	    CASE(torch_as_its_files_tell),
	    CASE(the_selectors_choice_is_made_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
