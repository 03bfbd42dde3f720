"""Cases of the selector module, run under one Python by selector.t.

Fake torches are folders in a temporary site folder; the bindings are real extension modules,
compiled here, which refuse to load unless torch was imported before them.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SELECTOR = os.path.join(TOP, "templates/causal-conv1d/causal_conv1d_cuda.py")
PYTHON = "%d.%d" % sys.version_info[:2]
TAG = "cp" + PYTHON.replace(".", "")
TRIPLET = sys.implementation._multiarch
PIP128 = 'pip install "torch==2.10.*" --index-url https://download.pytorch.org/whl/cu128'

BINDING = r"""
#include <Python.h>
int kernel_answer(void);
#ifdef ABSENT
int c10_absent(void);
#else
static int c10_absent(void) { return 0; }
#endif
static PyObject *answer(PyObject *self, PyObject *args)
{
	return PyLong_FromLong(kernel_answer() + c10_absent());
}
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, NULL}, {NULL}};
static int check(PyObject *m)
{
	PyObject *torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch");
	if (torch)
		return 0;
	PyErr_SetString(PyExc_SystemError, "torch was not imported first");
	return -1;
}
#ifdef MULTI_PHASE
static PyModuleDef_Slot slots[] = {{Py_mod_exec, check}, {0, NULL}};
static PyModuleDef def = {
	PyModuleDef_HEAD_INIT, "causal_conv1d_cuda", NULL, 0, methods, slots};
PyMODINIT_FUNC PyInit_causal_conv1d_cuda(void) { return PyModuleDef_Init(&def); }
#else
static PyModuleDef def = {PyModuleDef_HEAD_INIT, "causal_conv1d_cuda", NULL, -1, methods};
PyMODINIT_FUNC PyInit_causal_conv1d_cuda(void)
{
	return check(NULL) ? NULL : PyModule_Create(&def);
}
#endif
"""


def compile_c(out, text, *flags):
    cc = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", out,
          "-I" + sysconfig.get_paths()["include"], *flags]
    subprocess.run(cc, input=text, universal_newlines=True, check=True)


def setUpModule():
    """Kernel library, CUDA runtime and three forms of the binding, made once."""
    global made
    made = tempfile.mkdtemp(prefix="debkit-selector.")
    cudart, kernel = made + "/libcudart.so.12", made + "/libcausal_conv1d_cu128.so.1"
    compile_c(cudart, "int cudart_answer(void) { return 40; }", "-Wl,-soname,libcudart.so.12")
    compile_c(kernel, "int cudart_answer(void);\nint kernel_answer(void) { return cudart_answer() "
              "+ 2; }", cudart, "-Wl,-soname,libcausal_conv1d_cu128.so.1",
              "-Wl,-rpath,$ORIGIN,--enable-new-dtags")
    for name, flags in (("single", ()), ("multi", ("-DMULTI_PHASE",)), ("absent", ("-DABSENT",))):
        compile_c(made + "/" + name + ".so", BINDING, kernel, *flags,
                  "-Wl,-rpath,$ORIGIN,--enable-new-dtags")


def tearDownModule():
    shutil.rmtree(made)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="debkit-selector.")
        self.addCleanup(shutil.rmtree, self.root)
        self.site = self.root + "/site"
        self.lib = self.root + "/usr/lib"
        os.makedirs(self.site)
        os.makedirs(self.lib + "/debkit/python")
        shutil.copy(SELECTOR, self.lib + "/debkit/python")

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)

    def torch(self, version, cuda=None, hip=None):
        """A torch folder and dist-info as the wheels have them."""
        self.write(self.site + "/torch/__init__.py", "print('torch imported')\n")
        self.write(self.site + "/torch/version.py", (
            "from typing import Optional\n\n__all__ = ['__version__', 'debug', 'cuda', 'hip']\n"
            "__version__ = %r\ndebug = False\ncuda: Optional[str] = %r\ngit_version = '449b17'\n"
            "hip: Optional[str] = %r\n") % (version, cuda, hip))
        self.dist_info(version.partition("+")[0])

    def dist_info(self, version):
        self.write("%s/torch-%s.dist-info/METADATA" % (self.site, version),
                   "Metadata-Version: 2.1\nName: torch\nVersion: %s\n" % version)

    def flavour(self, cuda="12.8", torch="2.10 2.11 2.12", tag=TAG, form="single", cudart=True):
        """What a flavour package installs; a second call adds a stanza to its table."""
        folder = "%s/%s/debkit/causal-conv1d-cu%s" % (self.lib, TRIPLET, cuda.replace(".", ""))
        name = "torch%s-%s.so" % (torch.split()[0], tag)
        old = ""
        if os.path.exists(folder + "/bindings"):
            with open(folder + "/bindings") as f:
                old = f.read() + "\n"
        self.write(folder + "/bindings", "%sFile: %s\nPython: %s\nTorch: %s\nCuda: %s\n" % (
            old, name, tag, torch, cuda))
        shutil.copy("%s/%s.so" % (made, form), folder + "/" + name)
        shutil.copy(made + "/libcausal_conv1d_cu128.so.1", folder)
        if cudart:
            shutil.copy(made + "/libcudart.so.12", folder)
        return folder

    def run_python(self, code):
        """In isolated mode and with an empty environment, so that nothing else is needed."""
        prologue = "import sys; sys.path[:0] = [%r]; sys.path.append(%r)\n" % (
            self.site, self.lib + "/debkit/python")
        return subprocess.run([sys.executable, "-I", "-B", "-c", prologue + code], env={},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True)

    def loads(self, folder, name="torch2.10-%s.so" % TAG):
        r = self.run_python(
            "import causal_conv1d_cuda as m, sys\n"
            "assert sys.modules['causal_conv1d_cuda'] is m\n"
            "import causal_conv1d_cuda\nassert causal_conv1d_cuda is m\n"
            "print(m.answer(), m.__file__, m.__spec__.origin)")
        path = os.path.join(folder, name)
        self.assertEqual(r.stdout, "torch imported\n42 %s %s\n" % (path, path), r.stderr)
        return r.stderr

    def refuses(self, sentence, torch_imported=False):
        r = self.run_python("import causal_conv1d_cuda")
        self.assertEqual(r.returncode, 1)
        self.assertEqual(r.stdout, "torch imported\n" if torch_imported else "")
        self.assertNotIn("During handling", r.stderr)
        self.assertEqual(r.stderr.splitlines()[-1],
                         "ImportError: causal_conv1d_cuda: " + sentence)
        self.assertNotRegex(r.stderr.splitlines()[-1], r"\. |\.$")


class Loads(Case):
    def test_fitting_binding(self):
        self.torch("2.10.0+cu128", "12.8")
        self.assertEqual(self.loads(self.flavour()), "")

    def test_multi_phase_initialisation(self):
        self.torch("2.10.0+cu128", "12.8")
        self.assertEqual(self.loads(self.flavour(form="multi")), "")

    def test_later_torch_that_was_proved(self):
        self.torch("2.12.1", "12.8")
        self.assertEqual(self.loads(self.flavour()), "")

    def test_compiled_for_this_torch_comes_first(self):
        self.torch("2.12.1", "12.8")
        self.flavour()
        self.assertEqual(self.loads(self.flavour(torch="2.12 2.13"), "torch2.12-%s.so" % TAG), "")

    def test_minor_is_compared_as_a_whole(self):
        self.torch("2.1.2+cu128", "12.8")
        self.flavour()
        self.refuses("torch 2.1.2+cu128 (CUDA 12.8) on Python %s is installed: the installed "
                     "packages support torch 2.10, 2.11 or 2.12 with CUDA 12.8 on Python %s; "
                     "type: %s" % (PYTHON, PYTHON, PIP128))

    def test_binding_of_the_cuda_among_flavours(self):
        self.torch("2.12.1+cu130", "13.0")
        self.flavour()
        folder = self.flavour("13.0", "2.12")
        self.loads(folder, "torch2.12-%s.so" % TAG)

    def test_binding_of_the_torch_among_stanzas(self):
        self.torch("2.9.1", "12.8")
        self.flavour(torch="2.8")
        folder = self.flavour(torch="2.9")
        self.flavour()
        self.loads(folder, "torch2.9-%s.so" % TAG)

    def test_nightly_of_a_proved_minor_loads_with_a_warning(self):
        self.torch("2.12.0.dev20260101+cu128", "12.8")
        said = self.loads(self.flavour())
        self.assertIn("RuntimeWarning: causal_conv1d_cuda: torch 2.12.0.dev20260101+cu128 is no "
                      "release; its binding was checked against the releases of 2.12", said)

    def test_post_release_is_a_release(self):
        self.torch("2.10.0.post300", "12.8")
        self.assertEqual(self.loads(self.flavour()), "")

    def test_torch_that_is_imported_already(self):
        self.torch("2.10.0", "12.8")
        self.flavour()
        r = self.run_python("import torch, causal_conv1d_cuda as m; print(m.answer())")
        self.assertEqual(r.stdout, "torch imported\n42\n", r.stderr)

    def test_unreadable_tables_of_others_are_passed_over(self):
        self.torch("2.10.0", "12.8")
        other = "%s/%s/debkit/causal-conv1d-" % (self.lib, TRIPLET)
        self.write(other + "cu126/bindings", " \n: x\nFile\nFile: x.so\nPython: %s\n" % TAG)
        with open(other + "cu126/bindings", "ab") as f:
            f.write(b"\n\xff\xfe\n")
        os.makedirs(other + "cu11/bindings")
        self.loads(self.flavour())

    def test_nothing_is_written(self):
        self.torch("2.10.0", "12.8")
        self.loads(self.flavour())
        for folder, _, files in os.walk(self.root):
            self.assertNotIn("__pycache__", folder)
            self.assertFalse([f for f in files if f.endswith(".pyc")])


class Refuses(Case):
    SUPPORT = "the installed packages support torch 2.10, 2.11 or 2.12 with CUDA 12.8 on Python " \
        + PYTHON

    def refused(self, what, do, support=SUPPORT):
        self.refuses("%s on Python %s is installed: %s; type: %s" % (what, PYTHON, support, do))

    def test_no_torch(self):
        self.flavour()
        self.refused("no torch", PIP128)

    def test_folder_that_only_has_the_name(self):
        self.flavour()
        os.makedirs(self.site + "/torch")
        self.refused("no torch", PIP128)

    def test_dist_info_without_the_folder(self):
        self.flavour()
        self.dist_info("2.6.0")
        self.refused("torch 2.6.0, whose folder is missing,", PIP128)

    def test_broken_dist_info(self):
        self.flavour()
        os.makedirs(self.site + "/torch-2.6.0.dist-info")
        self.refused("no torch", PIP128)

    def test_cpu_only(self):
        self.flavour()
        self.torch("2.10.0+cpu")
        self.refused("torch 2.10.0+cpu (built without CUDA)",
                     PIP128.replace("install", "install --force-reinstall"))

    def test_rocm(self):
        self.flavour()
        self.torch("2.11.0+rocm6.4", hip="6.4.43482")
        self.refused("torch 2.11.0+rocm6.4 (ROCm)", PIP128)

    def test_wrong_torch(self):
        self.flavour()
        self.torch("2.6.0+cu128", "12.8")
        self.refused("torch 2.6.0+cu128 (CUDA 12.8)", PIP128)

    def test_wrong_cuda_with_a_flavour(self):
        self.flavour()
        self.torch("2.11.0+cu130", "13.0")
        self.refused("torch 2.11.0+cu130 (CUDA 13.0)", "apt install python3-causal-conv1d-cu130")

    def test_wrong_cuda_with_none(self):
        self.flavour()
        self.flavour("13.0", "2.12")
        self.torch("2.6.0+cu124", "12.4")
        self.refused("torch 2.6.0+cu124 (CUDA 12.4)", PIP128,
                     self.SUPPORT + " and torch 2.12 with CUDA 13.0 on Python " + PYTHON)

    def test_newest_supported_torch_is_named(self):
        self.flavour()
        self.flavour(torch="2.8")
        self.torch("2.13.0+cu128", "12.8")
        self.refused("torch 2.13.0+cu128 (CUDA 12.8)", PIP128,
                     self.SUPPORT.replace("2.10,", "2.8, 2.10,"))

    def test_wrong_python(self):
        self.flavour(tag="cp38")
        self.flavour(tag="cp313t")
        self.torch("2.10.0", "12.8")
        self.refused("torch 2.10.0 (CUDA 12.8)",
                     "python3.13t -m venv DIR && DIR/bin/%s && debkit enable --venv DIR" % PIP128,
                     "the installed packages support torch 2.10, 2.11 or 2.12 with CUDA 12.8 on "
                     "Python 3.8 or 3.13t")

    def test_other_machine(self):
        folder = self.flavour()
        self.torch("2.10.0", "12.8")
        other = folder.replace(TRIPLET, "m68k-linux-gnu")
        os.makedirs(os.path.dirname(other))
        os.rename(folder, other)
        self.refused("torch 2.10.0 (CUDA 12.8)", "apt install python3-causal-conv1d-cu128",
                     "no python3-causal-conv1d-cuXYZ package is installed")

    def test_no_flavour(self):
        self.torch("2.12.1", "13.0")
        self.refused("torch 2.12.1 (CUDA 13.0)", "apt install python3-causal-conv1d-cu130",
                     "no python3-causal-conv1d-cuXYZ package is installed")

    def test_no_flavour_and_no_torch(self):
        self.refused("no torch", "apt install python3-causal-conv1d-cu128 && pip install torch "
                     "--index-url https://download.pytorch.org/whl/cu128",
                     "no python3-causal-conv1d-cuXYZ package is installed")

    def test_version_py_without_cuda(self):
        self.flavour()
        self.torch("2.10.0", "12.8")
        self.write(self.site + "/torch/version.py", "__version__ = '2.10.0'\n")
        self.refused("torch 2.10.0, whose version.py names no CUDA version,",
                     PIP128.replace("install", "install --force-reinstall"))

    def test_version_py_that_cannot_be_read(self):
        self.flavour()
        self.torch("2.10.0", "12.8")
        with open(self.site + "/torch/version.py", "wb") as f:
            f.write(b"__version__ = '\xff'\n")
        self.refused("torch 2.10.0, whose version.py names no CUDA version,",
                     PIP128.replace("install", "install --force-reinstall"))

    def test_torch_of_unknown_version(self):
        self.flavour()
        self.write(self.site + "/torch/__init__.py", "")
        self.refused("torch of unknown version, whose version.py names no CUDA version,", PIP128)


class DoesNotLoad(Case):
    def refused(self, why, do, version="2.10.0+cu128"):
        self.torch(version, "12.8")
        self.refuses("torch %s (CUDA 12.8) on Python %s: %s; type: %s" % (
            version, PYTHON, why, do), torch_imported=True)

    def test_no_cuda_runtime(self):
        self.flavour(cudart=False)
        self.refused("the CUDA runtime libcudart.so.12 is missing", "apt install cuda-cudart-12-8")

    def test_undefined_symbol(self):
        folder = self.flavour(form="absent")
        for version in ("2.10.0+cu128", "2.10.0a0+git449b17"):
            self.refused("this build of torch differs from the releases of 2.10 (%s/torch2.10-%s"
                         ".so: undefined symbol: c10_absent)" % (folder, TAG),
                         PIP128.replace("install", "install --force-reinstall"), version)

    def test_symbol_missing_in_our_own_library(self):
        kernel = self.flavour() + "/libcausal_conv1d_cu128.so.1"
        with open(kernel, "rb") as f:
            text = f.read()
        with open(kernel, "wb") as f:
            f.write(text.replace(b"cudart_answer", b"cudart_absent"))
        self.refused("its binding cannot be loaded (%s: undefined symbol: cudart_absent)" % kernel,
                     "apt install --reinstall python3-causal-conv1d-cu128")

    def test_damaged_package(self):
        path = "%s/torch2.10-%s.so" % (self.flavour(), TAG)
        os.remove(path)
        self.refused("its binding cannot be loaded (%s: cannot open shared object file: No such "
                     "file or directory)" % path,
                     "apt install --reinstall python3-causal-conv1d-cu128")

    def test_error_of_torch_itself_is_passed_on(self):
        self.flavour()
        self.torch("2.10.0", "12.8")
        self.write(self.site + "/torch/__init__.py", "raise OSError('libcudnn.so.9: missing')\n")
        r = self.run_python("import causal_conv1d_cuda")
        self.assertEqual(r.stderr.splitlines()[-1], "OSError: libcudnn.so.9: missing")

    def test_second_try_after_a_refusal(self):
        self.flavour()
        r = self.run_python(
            "try:\n    import causal_conv1d_cuda\nexcept ImportError as e:\n    print(e.name)\n"
            "import os; os.makedirs(%r); open(%r, 'w').close()\n"
            "open(%r, 'w').write(\"__version__ = '2.10.0'\\ncuda = '12.8'\\n\")\n"
            "import importlib; importlib.invalidate_caches()\n"
            "import causal_conv1d_cuda as m; print(m.answer())" % (
                self.site + "/torch", self.site + "/torch/__init__.py",
                self.site + "/torch/version.py"))
        self.assertEqual(r.stdout, "causal_conv1d_cuda\n42\n", r.stderr)


if __name__ == "__main__":
    unittest.main()
