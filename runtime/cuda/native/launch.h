/* What the two halves of the native launch path share: a launch's arguments turned into the bytes that the kernel takes (values.c), and the callable
   object that hands them to the driver (launch.c). Everything here runs with the GIL held but for the driver's own call. */

#ifndef FA4DSL_LAUNCH_H
#define FA4DSL_LAUNCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* DLPack's exchange table (dlpack.h of DLPack 1.3): frameworks show it as the capsule `__dlpack_c_exchange_api__` of their array type. */
typedef struct {
    uint8_t code, bits;
    uint16_t lanes;
} DataType;

typedef struct {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    DataType dtype;
    int64_t *shape, *strides; /* in elements; no strides: dense */
    uint64_t byte_offset;
} TensorView;

typedef struct ExchangeHeader {
    uint32_t major, minor;
    struct ExchangeHeader *previous;
} ExchangeHeader;

typedef struct {
    ExchangeHeader header;
    void *allocator, *managed_from, *managed_to;
    int (*view)(void *object, TensorView *out);                                 /* borrows, and may be absent */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
} Exchange;

#define DLPACK_MAJOR 1
#define DLPACK_CUDA 2
#define MAP_BYTES 128
#define MAP_RANK 5

/* How an argument becomes bytes. The names are shown to Python as the module's constants. */
typedef enum { LEFT_ALONE, INTEGER, BOOLEAN, FLOATING, EXCHANGED_POINTER, METHOD_POINTER, ATTRIBUTE_POINTER, READY_MAP, EXCHANGED_MAP, EXTRACTED } StepKind;

typedef struct MapTable MapTable;

typedef struct {
    StepKind kind;
    Py_ssize_t offset, size;   /* of the bytes among the launch's values */
    PyTypeObject *type;        /* the argument's very type */
    int is_signed, any_number; /* INTEGER; FLOATING: Python's int and float may stand for each other */
    unsigned long long high;   /* INTEGER: the range; the low end is a signed type's negative */
    long long low;
    int contiguous;            /* pointers: must be dense */
    uintptr_t mask;            /* pointers: address bits that must be 0 */
    int32_t device;
    const Exchange *exchange;
    DataType exchanged_type;
    PyObject *dtype;           /* METHOD_POINTER, ATTRIBUTE_POINTER: the array type's own object */
    PyObject *key;             /* READY_MAP: under which a map keeps its bytes for this kernel and GPU */
    PyObject *function;        /* READY_MAP, EXCHANGED_MAP, EXTRACTED: makes the bytes, or None where the argument does not fit */
    MapTable *maps;            /* EXCHANGED_MAP */
} Step;

/* 1: the bytes are at `out`. 0: the argument is not what was checked, no exception set. -1: an exception that the caller is to see. */
int step_value(Step *step, PyObject *argument, char *out);

/* Fills a step from its description in Python (`cuda/native_plan.py`); -1 with an exception set. */
int step_init(Step *step, PyObject *description);
int step_traverse(Step *step, visitproc visit, void *arg);
void step_clear(Step *step);

/* The table of a type that shows one whose version is understood and which lends views, else NULL without an exception. */
const Exchange *exchange_of(PyObject *type);

int values_init(PyObject *module);

#endif
