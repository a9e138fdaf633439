/* Arguments to bytes. A step knows what one argument was when it was checked in full, and takes another only where nothing that matters differs. */

#include "launch.h"
#include <math.h>
#include <string.h>

static PyObject *name_dtype, *name_is_contiguous, *name_data_ptr, *name_get_device, *name_data, *name_ptr, *name_device_id, *name_c_contiguous, *name_encoded;

/* A little below the types' greatest values; what lies between takes the full check. */
#define FLOAT_BOUND 3.4e38

/* Maps over tensors given at launch, by what a map depends on. The last one found is tried first; when the table is full it is begun anew. */
#define MAPS_KEPT 1024
#define SLOTS 2048

typedef struct {
    void *data;
    DataType dtype;
    int32_t ndim;
    int64_t shape[MAP_RANK], strides[MAP_RANK];
    char bytes[MAP_BYTES];
} MapEntry;

struct MapTable {
    int count, capacity, last;
    MapEntry *entries;
    int16_t slots[SLOTS]; /* a place among the entries, or -1 */
};

static int dense(const TensorView *view) {
    int64_t step = 1;
    if (view->strides == NULL) return 1;
    for (int i = 0; i < view->ndim; i++)
        if (view->shape[i] == 0) return 1;
    for (int i = view->ndim - 1; i >= 0; i--) {
        if (view->shape[i] == 1) continue;
        if (view->strides[i] != step) return 0;
        step *= view->shape[i];
    }
    return 1;
}

/* A view of the argument on the step's GPU and of its type; 0 where it is none. */
static int exchanged(const Step *step, PyObject *argument, TensorView *view) {
    if (step->exchange->view(argument, view)) {
        PyErr_Clear();
        return 0;
    }
    return memcmp(&view->dtype, &step->exchanged_type, sizeof view->dtype) == 0 && view->device_type == DLPACK_CUDA && view->device_id == step->device;
}

static int write_pointer(const Step *step, uintptr_t address, char *out) {
    uint64_t value = address;
    if (address & step->mask) return 0;
    memcpy(out, &value, sizeof value);
    return 1;
}

static int exchanged_pointer(const Step *step, PyObject *argument, char *out) {
    TensorView view;
    if (!exchanged(step, argument, &view) || (step->contiguous && !dense(&view))) return 0;
    return write_pointer(step, (uintptr_t)view.data + view.byte_offset, out);
}

static int entry_is(const MapEntry *entry, const TensorView *view, size_t extent) {
    return entry->data == (char *)view->data + view->byte_offset && entry->ndim == view->ndim && !memcmp(&entry->dtype, &view->dtype, sizeof entry->dtype) &&
           !memcmp(entry->shape, view->shape, extent) && !memcmp(entry->strides, view->strides, extent);
}

static unsigned slot_of(const TensorView *view) {
    uint64_t hash = (uintptr_t)view->data + view->byte_offset;
    for (int i = 0; i < view->ndim; i++) hash = (hash ^ (uint64_t)view->shape[i]) * 0x9e3779b97f4a7c15u + (uint64_t)view->strides[i];
    return (unsigned)((hash * 0x9e3779b97f4a7c15u) >> 53) % SLOTS;
}

static int add_map(MapTable *maps, const TensorView *view, size_t extent, const char *bytes, unsigned slot) {
    if (maps->count == MAPS_KEPT) {
        maps->count = maps->last = 0;
        memset(maps->slots, -1, sizeof maps->slots);
        slot = slot_of(view);
    }
    if (maps->count == maps->capacity) {
        int capacity = maps->capacity ? 2 * maps->capacity : 4;
        MapEntry *grown = PyMem_Realloc(maps->entries, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        maps->entries = grown;
        maps->capacity = capacity;
    }
    MapEntry *entry = &maps->entries[maps->count];
    memset(entry, 0, sizeof *entry);
    entry->data = (char *)view->data + view->byte_offset;
    entry->dtype = view->dtype;
    entry->ndim = view->ndim;
    memcpy(entry->shape, view->shape, extent);
    memcpy(entry->strides, view->strides, extent);
    memcpy(entry->bytes, bytes, MAP_BYTES);
    maps->slots[slot] = (int16_t)maps->count;
    maps->last = maps->count++;
    return 0;
}

/* Calls the step's function for the argument's bytes: 1, 0 for None, -1. */
static int extracted(const Step *step, PyObject *argument, char *out) {
    PyObject *made = PyObject_CallOneArg(step->function, argument);
    if (made == NULL) return -1;
    int fits = made != Py_None;
    if (fits && (!PyBytes_Check(made) || PyBytes_GET_SIZE(made) != step->size)) {
        PyErr_Format(PyExc_SystemError, "a launch argument's bytes are %R, not %zd bytes", made, step->size);
        fits = -1;
    } else if (fits)
        memcpy(out, PyBytes_AS_STRING(made), (size_t)step->size);
    Py_DECREF(made);
    return fits;
}

static int exchanged_map(Step *step, PyObject *argument, char *out) {
    TensorView view;
    MapTable *maps = step->maps;
    if (!exchanged(step, argument, &view) || view.ndim > MAP_RANK || view.strides == NULL) return 0;
    size_t extent = (size_t)view.ndim * sizeof *view.shape;
    if (maps->count && entry_is(&maps->entries[maps->last], &view, extent)) {
        memcpy(out, maps->entries[maps->last].bytes, MAP_BYTES);
        return 1;
    }
    unsigned slot = slot_of(&view);
    for (; maps->slots[slot] >= 0; slot = (slot + 1) % SLOTS)
        if (entry_is(&maps->entries[maps->slots[slot]], &view, extent)) {
            maps->last = maps->slots[slot];
            memcpy(out, maps->entries[maps->last].bytes, MAP_BYTES);
            return 1;
        }
    int made = extracted(step, argument, out);
    if (made != 1) return made;
    /* While it was made, another thread may have filled the table, and this slot. */
    for (slot = slot_of(&view); maps->slots[slot] >= 0; slot = (slot + 1) % SLOTS)
        if (entry_is(&maps->entries[maps->slots[slot]], &view, extent)) return 1;
    return add_map(maps, &view, extent, out, slot) ? -1 : 1;
}

/* A map that was checked against this parameter's template carries its bytes under a key that says so. */
static int ready_map(const Step *step, PyObject *argument, char *out) {
    PyObject *encoded = PyObject_GetAttr(argument, name_encoded);
    if (encoded == NULL) return -1;
    PyObject *bytes = PyDict_Check(encoded) ? PyDict_GetItemWithError(encoded, step->key) : NULL;
    int found = bytes != NULL && PyBytes_Check(bytes) && PyBytes_GET_SIZE(bytes) == step->size;
    if (found) memcpy(out, PyBytes_AS_STRING(bytes), (size_t)step->size);
    Py_DECREF(encoded);
    if (found) return 1;
    return PyErr_Occurred() ? -1 : extracted(step, argument, out);
}

/* An attribute's, or a method's, value as a number; -1 with an exception set where there is none. */
static int number(PyObject *value, unsigned long long *out) {
    if (value == NULL) return -1;
    *out = PyLong_AsUnsignedLongLongMask(value);
    Py_DECREF(value);
    return PyErr_Occurred() ? -1 : 0;
}

static int truth(PyObject *value) {
    if (value == NULL) return -1;
    int is = PyObject_IsTrue(value);
    Py_DECREF(value);
    return is;
}

/* torch without the exchange table, and subclasses of its tensor. */
static int method_pointer(const Step *step, PyObject *argument, char *out) {
    unsigned long long address, device;
    PyObject *dtype = PyObject_GetAttr(argument, name_dtype);
    if (dtype == NULL) return -1;
    Py_DECREF(dtype);
    if (dtype != step->dtype) return 0;
    if (step->contiguous) {
        int is = truth(PyObject_CallMethodNoArgs(argument, name_is_contiguous));
        if (is != 1) return is;
    }
    if (number(PyObject_CallMethodNoArgs(argument, name_get_device), &device)) return -1;
    if ((int32_t)device != step->device) return 0;
    if (number(PyObject_CallMethodNoArgs(argument, name_data_ptr), &address)) return -1;
    return write_pointer(step, (uintptr_t)address, out);
}

/* cupy: a numpy dtype, and the memory as an object. */
static int attribute_pointer(const Step *step, PyObject *argument, char *out) {
    unsigned long long address, device;
    PyObject *dtype = PyObject_GetAttr(argument, name_dtype);
    if (dtype == NULL) return -1;
    int same = dtype == step->dtype ? 1 : PyObject_RichCompareBool(dtype, step->dtype, Py_EQ);
    Py_DECREF(dtype);
    if (same != 1) return same;
    if (step->contiguous) {
        int is = truth(PyObject_GetAttr(argument, name_c_contiguous));
        if (is != 1) return is;
    }
    PyObject *data = PyObject_GetAttr(argument, name_data);
    if (data == NULL) return -1;
    int missing = number(PyObject_GetAttr(data, name_device_id), &device) || number(PyObject_GetAttr(data, name_ptr), &address);
    Py_DECREF(data);
    if (missing) return -1;
    return (int32_t)device == step->device && write_pointer(step, (uintptr_t)address, out);
}

static int integer(const Step *step, PyObject *argument, char *out) {
    unsigned long long bits;
    PyObject *whole = NULL;
    if (!PyLong_CheckExact(argument)) {
        whole = PyNumber_Long(argument);
        if (whole == NULL) return -1;
        argument = whole;
    }
    if (step->is_signed) {
        int overflow;
        long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
        Py_XDECREF(whole);
        if (overflow || value < step->low || (value > 0 && (unsigned long long)value > step->high)) return 0;
        bits = (unsigned long long)value;
    } else {
        bits = PyLong_AsUnsignedLongLong(argument);
        Py_XDECREF(whole);
        if (bits == (unsigned long long)-1 && PyErr_Occurred()) {
            PyErr_Clear();
            return 0;
        }
        if (bits > step->high) return 0;
    }
    memcpy(out, &bits, (size_t)step->size);
    return 1;
}

static int floating(const Step *step, PyObject *argument, char *out) {
    double value = PyFloat_AsDouble(argument);
    if (value == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    if (step->size == sizeof(double)) {
        memcpy(out, &value, sizeof value);
        return 1;
    }
    if (isfinite(value) && !(-FLOAT_BOUND < value && value < FLOAT_BOUND)) return 0;
    float rounded = (float)value;
    memcpy(out, &rounded, sizeof rounded);
    return 1;
}

int step_value(Step *step, PyObject *argument, char *out) {
    if (Py_TYPE(argument) != step->type && !(step->any_number && (PyFloat_CheckExact(argument) || PyLong_CheckExact(argument)))) return 0;
    switch (step->kind) {
    case LEFT_ALONE: memset(out, 0, (size_t)step->size); return 1;
    case INTEGER: return integer(step, argument, out);
    case BOOLEAN: *out = argument == Py_True; return 1;
    case FLOATING: return floating(step, argument, out);
    case EXCHANGED_POINTER: return exchanged_pointer(step, argument, out);
    case METHOD_POINTER: return method_pointer(step, argument, out);
    case ATTRIBUTE_POINTER: return attribute_pointer(step, argument, out);
    case READY_MAP: return ready_map(step, argument, out);
    case EXCHANGED_MAP: return exchanged_map(step, argument, out);
    case EXTRACTED: return extracted(step, argument, out);
    }
    return 0;
}

const Exchange *exchange_of(PyObject *type) {
    PyObject *capsule = PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
    if (capsule == NULL) {
        PyErr_Clear();
        return NULL;
    }
    /* A framework keeps its table for as long as the process lives. */
    const ExchangeHeader *header = PyCapsule_CheckExact(capsule) ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_DECREF(capsule);
    PyErr_Clear();
    while (header != NULL && header->major != DLPACK_MAJOR) header = header->previous;
    const Exchange *found = (const Exchange *)header;
    return found != NULL && found->view != NULL ? found : NULL;
}

/* The type that the sample's view has, on the step's GPU: it was checked in full, so whatever has this type is right. */
static int init_exchange(Step *step, PyObject *sample) {
    TensorView view;
    step->exchange = exchange_of((PyObject *)Py_TYPE(sample));
    if (step->exchange == NULL) {
        PyErr_SetString(PyExc_SystemError, "the array's type has no DLPack exchange table");
        return -1;
    }
    if (step->exchange->view(sample, &view)) return -1;
    step->exchanged_type = view.dtype;
    return 0;
}

int step_init(Step *step, PyObject *description) {
    static char *names[] = {"kind", "offset", "size", "type", "signed", "any_number", "low", "high", "contiguous", "alignment", "device", "sample", "dtype", "key", "function", NULL};
    int kind;
    unsigned long long alignment = 1;
    PyObject *type, *sample = NULL, *dtype = NULL, *key = NULL, *function = NULL, *none = PyTuple_New(0);
    memset(step, 0, sizeof *step);
    if (none == NULL) return -1;
    int fine = PyArg_ParseTupleAndKeywords(none, description, "|$innOppLKpKiOOOO:step", names, &kind, &step->offset, &step->size, &type, &step->is_signed, &step->any_number, &step->low,
                                           &step->high, &step->contiguous, &alignment, &step->device, &sample, &dtype, &key, &function);
    Py_DECREF(none);
    if (!fine) return -1;
    step->kind = (StepKind)kind;
    step->mask = (uintptr_t)alignment - 1;
    step->type = (PyTypeObject *)Py_NewRef(type);
    step->dtype = Py_XNewRef(dtype);
    step->key = Py_XNewRef(key);
    step->function = Py_XNewRef(function);
    if (step->kind == EXCHANGED_MAP) {
        step->maps = PyMem_Calloc(1, sizeof *step->maps);
        if (step->maps == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        memset(step->maps->slots, -1, sizeof step->maps->slots);
    }
    return sample != NULL ? init_exchange(step, sample) : 0;
}

int step_traverse(Step *step, visitproc visit, void *arg) {
    Py_VISIT(step->type);
    Py_VISIT(step->dtype);
    Py_VISIT(step->key);
    Py_VISIT(step->function);
    return 0;
}

void step_clear(Step *step) {
    Py_CLEAR(step->type);
    Py_CLEAR(step->dtype);
    Py_CLEAR(step->key);
    Py_CLEAR(step->function);
    if (step->maps != NULL) {
        PyMem_Free(step->maps->entries);
        PyMem_Free(step->maps);
        step->maps = NULL;
    }
}

int values_init(PyObject *module) {
    static const struct {
        PyObject **name;
        const char *text;
    } names[] = {
        {&name_dtype, "dtype"},       {&name_is_contiguous, "is_contiguous"}, {&name_data_ptr, "data_ptr"},          {&name_get_device, "get_device"}, {&name_data, "data"},
        {&name_ptr, "ptr"},           {&name_device_id, "device_id"},         {&name_c_contiguous, "_c_contiguous"}, {&name_encoded, "encoded"},
    };
    static const struct {
        const char *name;
        StepKind kind;
    } kinds[] = {
        {"LEFT_ALONE", LEFT_ALONE},
        {"INTEGER", INTEGER},
        {"BOOLEAN", BOOLEAN},
        {"FLOATING", FLOATING},
        {"EXCHANGED_POINTER", EXCHANGED_POINTER},
        {"METHOD_POINTER", METHOD_POINTER},
        {"ATTRIBUTE_POINTER", ATTRIBUTE_POINTER},
        {"READY_MAP", READY_MAP},
        {"EXCHANGED_MAP", EXCHANGED_MAP},
        {"EXTRACTED", EXTRACTED},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i].name == NULL && (*names[i].name = PyUnicode_InternFromString(names[i].text)) == NULL) return -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (PyModule_AddIntConstant(module, kinds[i].name, kinds[i].kind)) return -1;
    return 0;
}
