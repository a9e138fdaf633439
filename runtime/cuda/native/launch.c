/* Launches of a known signature, from Python's call to the driver's in one step.

   `Prepared` is a kernel with its grid and options as the driver takes them. `Launch` is what `artifact[grid]` gives: called, it compares each argument
   with what was checked, packs the values on its own stack and calls the driver. Where anything differs it calls `missed`, which checks in full and says
   what is wrong. See `cuda/native_plan.py`, which makes both. */

#include "launch.h"
#include <structmember.h>
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#define MOST_PARAMETERS 256
#define MOST_BYTES 4096 /* of a kernel's parameters, as PTX allows where a compiler does not say otherwise; kernels with more have no native plan */

typedef struct {
    unsigned grid[3], block[3], dynamic_shared, padding;
    void *stream, *attributes;
    unsigned attribute_count, end;
} LaunchConfig; /* CUlaunchConfig */

typedef int (*LaunchFunction)(const LaunchConfig *, void *function, void **parameters, void **extra);

/* cuLaunchKernelEx; NULL before the driver is loaded and in a forked child, where every launch takes the way in full. */
static LaunchFunction launch_function;
static PyObject *name_last, *name_stream;

/* --- Prepared --- */

typedef struct {
    PyObject_HEAD
    LaunchConfig config;
    void *function;
    PyObject *attributes; /* bytes */
    Py_ssize_t inside;    /* launches in the driver's hands */
    int retired;
} Prepared;

static int prepared_init(Prepared *self, PyObject *arguments, PyObject *named) {
    static char *names[] = {"function", "grid", "block", "dynamic_shared_bytes", "attributes", "attribute_count", NULL};
    unsigned long long function;
    LaunchConfig *config = &self->config;
    PyObject *attributes;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "$K(III)(III)ISI:Prepared", names, &function, &config->grid[0], &config->grid[1], &config->grid[2], &config->block[0],
                                     &config->block[1], &config->block[2], &config->dynamic_shared, &attributes, &config->attribute_count))
        return -1;
    Py_XSETREF(self->attributes, Py_NewRef(attributes));
    self->function = (void *)(uintptr_t)function;
    config->attributes = config->attribute_count ? PyBytes_AS_STRING(attributes) : NULL;
    return 0;
}

static void prepared_dealloc(Prepared *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->attributes);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *prepared_retire(Prepared *self, PyObject *Py_UNUSED(nothing)) {
    self->retired = 1;
    return PyLong_FromSsize_t(self->inside);
}

static PyMethodDef prepared_methods[] = {
    {"retire", (PyCFunction)prepared_retire, METH_NOARGS, "Lets no further launch begin, and tells how many are in the driver's hands."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot prepared_slots[] = {
    {Py_tp_doc, "A kernel with its grid and options on one GPU, as the driver takes them."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, prepared_init},
    {Py_tp_dealloc, prepared_dealloc},
    {Py_tp_methods, prepared_methods},
    {0, NULL},
};

static PyType_Spec prepared_spec = {"fa4dsl.runtime.cuda._native.Prepared", sizeof(Prepared), 0, Py_TPFLAGS_DEFAULT, prepared_slots};
static PyTypeObject *prepared_type;

/* --- Launch --- */

typedef struct Launch {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *name, *missed, *token;
    struct Launch *plan; /* whose steps are taken: the launch itself, or the one it adopted; none at first */
    Prepared *prepared;
    Py_ssize_t count, size; /* parameters, and their values' bytes */
    Step *steps;
    const Exchange *stream_exchange; /* whose current stream is the launch's; else the function's answer, else the legacy default stream */
    int32_t device;
    PyObject *stream_function, *stream_of; /* current_stream(arguments), handle_of(stream) */
    PyObject *failed, *told, *recent, *note;
    PyObject *last;    /* the (stream, bytes) noted last */
    char *last_values; /* the same: stream, then bytes */
} Launch;

static int launch_traverse(Launch *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->name);
    Py_VISIT(self->missed);
    Py_VISIT(self->token);
    if (self->plan != self) Py_VISIT(self->plan);
    Py_VISIT(self->prepared);
    Py_VISIT(self->stream_function);
    Py_VISIT(self->stream_of);
    Py_VISIT(self->failed);
    Py_VISIT(self->told);
    Py_VISIT(self->recent);
    Py_VISIT(self->note);
    Py_VISIT(self->last);
    for (Py_ssize_t i = 0; self->steps != NULL && i < self->count; i++) {
        int stopped = step_traverse(&self->steps[i], visit, arg);
        if (stopped) return stopped;
    }
    return 0;
}

static int launch_clear(Launch *self) {
    Launch *plan = self->plan;
    self->plan = NULL;
    if (plan != self) Py_XDECREF(plan);
    Step *steps = self->steps;
    Py_ssize_t count = self->count;
    self->steps = NULL;
    for (Py_ssize_t i = 0; steps != NULL && i < count; i++) step_clear(&steps[i]);
    PyMem_Free(steps);
    Py_CLEAR(self->name);
    Py_CLEAR(self->missed);
    Py_CLEAR(self->token);
    Py_CLEAR(self->prepared);
    Py_CLEAR(self->stream_function);
    Py_CLEAR(self->stream_of);
    Py_CLEAR(self->failed);
    Py_CLEAR(self->told);
    Py_CLEAR(self->recent);
    Py_CLEAR(self->note);
    Py_CLEAR(self->last);
    return 0;
}

static void launch_dealloc(Launch *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    launch_clear(self);
    PyMem_Free(self->last_values);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Everything that is not what was checked: the arguments as they were given, to Python. */
static PyObject *miss(const Launch *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names, PyObject *stream) {
    PyObject *result = NULL, *named = PyDict_New(), *given = PyTuple_New(count);
    if (named == NULL || given == NULL) goto end;
    if (self->missed == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "this launch has been collected");
        goto end;
    }
    for (Py_ssize_t i = 0; i < count; i++) PyTuple_SET_ITEM(given, i, Py_NewRef(arguments[i]));
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        if (PyUnicode_Compare(name, name_stream) && PyDict_SetItem(named, name, arguments[count + i])) goto end;
    }
    PyObject *call[] = {given, stream != NULL ? stream : Py_None, named, self->token != NULL ? self->token : Py_None};
    result = PyObject_Vectorcall(self->missed, call, 4, NULL);
end:
    Py_XDECREF(named);
    Py_XDECREF(given);
    return result;
}

static int number(PyObject *value, void **out) {
    if (value == NULL) return -1;
    *out = PyLong_AsVoidPtr(value);
    Py_DECREF(value);
    return PyErr_Occurred() ? -1 : 0;
}

/* The stream's handle: of the one given, else of the one that is current where the arrays come from. */
static int find_stream(const Launch *plan, PyObject *given, PyObject *const *arguments, void **out) {
    if (given != NULL && given != Py_None) return number(PyObject_CallOneArg(plan->stream_of, given), out);
    if (plan->stream_exchange != NULL) {
        if (plan->stream_exchange->current_stream(DLPACK_CUDA, plan->device, out) == 0) return 0;
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "the framework does not say which stream is current");
        return -1;
    }
    *out = NULL;
    if (plan->stream_function == NULL) return 0;
    PyObject *given_all = PyTuple_New(plan->count);
    if (given_all == NULL) return -1;
    for (Py_ssize_t i = 0; i < plan->count; i++) PyTuple_SET_ITEM(given_all, i, Py_NewRef(arguments[i]));
    int failed = number(PyObject_CallOneArg(plan->stream_function, given_all), out);
    Py_DECREF(given_all);
    return failed;
}

/* Keeps what was launched, for the message of a fault that shows later. Launches repeated with the very same values stand once. */
static int note_launch(Launch *plan, void *stream, const char *values) {
    size_t size = (size_t)plan->size;
    int same = plan->last != NULL && !memcmp(plan->last_values, &stream, sizeof stream) && !memcmp(plan->last_values + sizeof stream, values, size);
    if (!same) {
        PyObject *last = Py_BuildValue("(Ny#)", PyLong_FromVoidPtr(stream), values, plan->size);
        if (last == NULL) return -1;
        memcpy(plan->last_values, &stream, sizeof stream);
        memcpy(plan->last_values + sizeof stream, values, size);
        Py_XSETREF(plan->last, last);
    }
    PyObject *recent = PyObject_GetAttr(plan->recent, name_last);
    if (recent == NULL) return -1;
    Py_DECREF(recent);
    if (recent == plan->last) return 0;
    PyObject *pair = PyTuple_Pack(2, plan->told, plan->last);
    if (pair == NULL) return -1;
    PyObject *done = PyObject_SetAttr(plan->recent, name_last, plan->last) ? NULL : PyObject_CallOneArg(plan->note, pair);
    Py_DECREF(pair);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

static PyObject *launch_call(PyObject *callable, PyObject *const *arguments, size_t flags, PyObject *names) {
    Launch *self = (Launch *)callable, *plan = self->plan;
    Py_ssize_t count = PyVectorcall_NARGS(flags), named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    PyObject *given_stream = NULL;
    for (Py_ssize_t i = 0; i < named; i++)
        if (!PyUnicode_Compare(PyTuple_GET_ITEM(names, i), name_stream)) given_stream = arguments[count + i];
    if (plan == NULL || count != plan->count || named > (given_stream != NULL) || plan->prepared->retired || launch_function == NULL)
        return miss(plan != NULL ? plan : self, arguments, count, names, given_stream);

    alignas(64) char values[MOST_BYTES];
    void *parameters[MOST_PARAMETERS];
    memset(values, 0, (size_t)plan->size); /* the gaps too, for launches are compared */
    for (Py_ssize_t i = 0; i < count; i++) {
        Step *step = &plan->steps[i];
        parameters[i] = values + step->offset;
        int fits = step_value(step, arguments[i], parameters[i]);
        if (fits < 0) return NULL;
        if (!fits) return miss(plan, arguments, count, names, given_stream);
    }
    Prepared *prepared = plan->prepared;
    LaunchConfig config = prepared->config;
    if (find_stream(plan, given_stream, arguments, &config.stream)) return NULL;
    /* Steps and streams may have run Python, and with it another thread that unloads the kernel. From here to the driver none runs. */
    if (prepared->retired || launch_function == NULL) return miss(plan, arguments, count, names, given_stream);
    int status;
    LaunchFunction function = launch_function;
    Py_INCREF(plan);
    prepared->inside++;
    Py_BEGIN_ALLOW_THREADS
    status = function(&config, prepared->function, parameters, NULL);
    Py_END_ALLOW_THREADS
    prepared->inside--;
    PyObject *result = NULL;
    if (status) {
        PyObject *done = PyObject_CallFunction(plan->failed, "iNy#", status, PyLong_FromVoidPtr(config.stream), values, plan->size);
        if (done == NULL) goto end;
        Py_DECREF(done);
    }
    if (note_launch(plan, config.stream, values) == 0) result = Py_NewRef(Py_None);
end:
    Py_DECREF(plan);
    return result;
}

static int launch_init(Launch *self, PyObject *arguments, PyObject *named) {
    static char *names[] = {"name", "missed", "token", "prepared", "steps", "size", "stream_from", "device", "stream_function", "stream_of", "failed", "told", "recent", "note", NULL};
    PyObject *name, *missed, *token = NULL, *prepared = NULL, *steps = NULL, *stream_from = NULL, *stream_function = NULL, *stream_of = NULL, *failed = NULL, *told = NULL, *recent = NULL, *note = NULL;
    if (self->name != NULL) {
        PyErr_SetString(PyExc_TypeError, "a launch is made once");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "UO|$OO!O!nOiOOOOOO:Launch", names, &name, &missed, &token, prepared_type, &prepared, &PyTuple_Type, &steps, &self->size,
                                     &stream_from, &self->device, &stream_function, &stream_of, &failed, &told, &recent, &note))
        return -1;
    self->name = Py_NewRef(name);
    self->missed = Py_NewRef(missed);
    self->token = Py_XNewRef(token);
    self->vectorcall = launch_call;
    if (prepared == NULL) return 0;
    Py_ssize_t count = steps == NULL ? -1 : PyTuple_GET_SIZE(steps);
    if (count < 0 || count > MOST_PARAMETERS || self->size < 0 || self->size > MOST_BYTES || stream_of == NULL || failed == NULL || told == NULL || recent == NULL || note == NULL) {
        PyErr_SetString(PyExc_ValueError, "a plan needs all of its parts, at most MOST_PARAMETERS steps and MOST_BYTES bytes");
        return -1;
    }
    self->steps = PyMem_Calloc((size_t)count + 1, sizeof *self->steps);
    self->last_values = PyMem_Malloc(sizeof(void *) + (size_t)self->size);
    if (self->steps == NULL || self->last_values == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; self->count < count; self->count++) {
        Step *step = &self->steps[self->count];
        if (step_init(step, PyTuple_GET_ITEM(steps, self->count))) {
            step_clear(step);
            return -1;
        }
        if (step->offset < 0 || step->size < 0 || step->offset + step->size > self->size) {
            PyErr_SetString(PyExc_ValueError, "a step lies outside the values");
            return -1;
        }
    }
    if (stream_from != NULL && stream_from != Py_None) {
        self->stream_exchange = exchange_of(stream_from);
        if (self->stream_exchange == NULL || self->stream_exchange->current_stream == NULL) {
            PyErr_SetString(PyExc_SystemError, "the arrays' type does not tell its stream");
            return -1;
        }
    }
    self->prepared = (Prepared *)Py_NewRef(prepared);
    self->stream_function = stream_function == Py_None ? NULL : Py_XNewRef(stream_function);
    self->stream_of = Py_NewRef(stream_of);
    self->failed = Py_NewRef(failed);
    self->told = Py_NewRef(told);
    self->recent = Py_NewRef(recent);
    self->note = Py_NewRef(note);
    self->plan = self;
    return 0;
}

static PyObject *launch_adopt(Launch *self, PyObject *plan) {
    if (Py_TYPE(plan) != Py_TYPE(self) || ((Launch *)plan)->plan != (Launch *)plan || self->plan != NULL) {
        PyErr_SetString(PyExc_TypeError, "a launch without a plan adopts one, once");
        return NULL;
    }
    self->plan = (Launch *)Py_NewRef(plan);
    Py_RETURN_NONE;
}

static PyObject *launch_repr(Launch *self) { return PyUnicode_FromFormat("<%U>", self->name); }

static PyMethodDef launch_methods[] = {
    {"adopt", (PyCFunction)launch_adopt, METH_O, "Makes a launch that callers already hold do what a plan does. Once only."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef launch_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launch, vectorcall), READONLY, NULL},
    {"__name__", T_OBJECT, offsetof(Launch, name), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot launch_slots[] = {
    {Py_tp_doc, "What `artifact[grid]` gives: see `runtime.bound_launch.BoundLaunch`."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, launch_init},
    {Py_tp_dealloc, launch_dealloc},
    {Py_tp_traverse, launch_traverse},
    {Py_tp_clear, launch_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, launch_repr},
    {Py_tp_methods, launch_methods},
    {Py_tp_members, launch_members},
    {0, NULL},
};

static PyType_Spec launch_spec = {"fa4dsl.runtime.cuda._native.Launch", sizeof(Launch), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, launch_slots};

/* --- the module --- */

static PyObject *set_launch_function(PyObject *Py_UNUSED(module), PyObject *address) {
    void *function = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) return NULL;
    launch_function = (LaunchFunction)(uintptr_t)function;
    Py_RETURN_NONE;
}

static PyObject *lends_view(PyObject *Py_UNUSED(module), PyObject *array) {
    TensorView view;
    const Exchange *exchange = exchange_of((PyObject *)Py_TYPE(array));
    int lent = exchange != NULL && exchange->view(array, &view) == 0;
    PyErr_Clear();
    return PyBool_FromLong(lent);
}

static PyMethodDef module_methods[] = {
    {"set_launch_function", set_launch_function, METH_O, "The address of the driver's cuLaunchKernelEx; 0 lets nothing launch from here."},
    {"lends_view", lends_view, METH_O, "Whether an array shows itself through its type's DLPack exchange table."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module_definition = {PyModuleDef_HEAD_INIT, "_native", "The native launch path; see launch.c.", -1, module_methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__native(void) {
    PyObject *module = PyModule_Create(&module_definition);
    if (module == NULL) return NULL;
    name_last = PyUnicode_InternFromString("last");
    name_stream = PyUnicode_InternFromString("stream");
    prepared_type = (PyTypeObject *)PyType_FromSpec(&prepared_spec);
    PyObject *launch_type = PyType_FromSpec(&launch_spec);
    if (name_last == NULL || name_stream == NULL || prepared_type == NULL || launch_type == NULL || values_init(module) ||
        PyModule_AddIntMacro(module, MOST_PARAMETERS) || PyModule_AddIntMacro(module, MOST_BYTES) ||
        PyModule_AddObjectRef(module, "Prepared", (PyObject *)prepared_type) || PyModule_AddObjectRef(module, "Launch", launch_type)) {
        Py_DECREF(module);
        return NULL;
    }
    Py_DECREF(launch_type);
    return module;
}
