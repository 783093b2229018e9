// NumPy types for the number formats that NumPy lacks: bfloat16, float8_e4m3, float8_e5m2. Arithmetic is fp32's,
// rounded once. Source: NumPy C API, user-defined data types.
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <Python.h>

#include <numpy/arrayobject.h>
#include <numpy/ufuncobject.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "isa/dtype.h"
#include "python/nki/bind.h"

namespace trnsim_python {
namespace {

using isa::Dtype;

template <Dtype D>
struct Format {
  using Bits = std::conditional_t<D == Dtype::kBf16, std::uint16_t, std::uint8_t>;
  static constexpr const char* kName = D == Dtype::kBf16      ? "bfloat16"
                                       : D == Dtype::kFp8E4m3 ? "float8_e4m3"
                                                              : "float8_e5m2";
  struct Scalar {
    PyObject_HEAD Bits bits;
  };
  static inline PyTypeObject type{};
  static inline PyArray_ArrFuncs functions{};
  static inline int number = -1;
  static inline PyArray_Descr* descr = nullptr;

  static float decode(Bits bits) {
    if constexpr (D == Dtype::kBf16) return std::bit_cast<float>(std::uint32_t{bits} << 16);
    return isa::decode(D, bits);
  }
  static Bits encode(float value) {
    if constexpr (D == Dtype::kBf16) {
      const auto bits = std::bit_cast<std::uint32_t>(value);
      if (value != value) return static_cast<Bits>((bits >> 16) | 0x40u);
      return static_cast<Bits>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
    }
    return static_cast<Bits>(isa::encode(D, value));
  }

  static PyObject* scalar(Bits bits) {
    PyObject* out = type.tp_alloc(&type, 0);
    if (out) reinterpret_cast<Scalar*>(out)->bits = bits;
    return out;
  }
  static float value(PyObject* self) { return decode(reinterpret_cast<Scalar*>(self)->bits); }

  static PyObject* make(PyTypeObject*, PyObject* args, PyObject*) {
    PyObject* from = nullptr;
    if (!PyArg_ParseTuple(args, "|O", &from)) return nullptr;
    const double number_value = from ? PyFloat_AsDouble(from) : 0;
    if (number_value == -1 && PyErr_Occurred()) return nullptr;
    return scalar(encode(static_cast<float>(number_value)));
  }
  static PyObject* as_float(PyObject* self) { return PyFloat_FromDouble(value(self)); }
  static PyObject* as_int(PyObject* self) { return PyLong_FromDouble(value(self)); }
  static PyObject* text(PyObject* self) {
    PyObject* number_value = as_float(self);
    PyObject* out = PyObject_Str(number_value);
    Py_DECREF(number_value);
    return out;
  }
  static Py_hash_t hash(PyObject* self) {
    PyObject* number_value = as_float(self);
    const Py_hash_t out = PyObject_Hash(number_value);
    Py_DECREF(number_value);
    return out;
  }
  static PyObject* compare_scalars(PyObject* a, PyObject* b, int op) {
    PyObject* x = as_float(a);
    PyObject* y = PyObject_TypeCheck(b, &type) ? as_float(b) : Py_NewRef(b);
    PyObject* out = PyObject_RichCompare(x, y, op);
    Py_DECREF(x), Py_DECREF(y);
    return out;
  }

  static Bits load(const void* at) {
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
  }
  static void store(void* at, Bits bits) { std::memcpy(at, &bits, sizeof bits); }

  static PyObject* get(void* at, void*) { return scalar(load(at)); }
  static int set(PyObject* from, void* at, void*) {
    if (PyObject_TypeCheck(from, &type)) {
      store(at, reinterpret_cast<Scalar*>(from)->bits);
      return 0;
    }
    const double number_value = PyFloat_AsDouble(from);
    if (number_value == -1 && PyErr_Occurred()) return -1;
    store(at, encode(static_cast<float>(number_value)));
    return 0;
  }
  static void swap(void* to, void* from, int, void*) {
    if (from) std::memcpy(to, from, sizeof(Bits));
  }
  static void swap_many(void* to, npy_intp to_step, void* from, npy_intp from_step, npy_intp n, int, void*) {
    for (npy_intp i = 0; from && i < n; ++i)
      std::memcpy(static_cast<char*>(to) + i * to_step, static_cast<char*>(from) + i * from_step, sizeof(Bits));
  }
  static npy_bool nonzero(void* at, void*) { return decode(load(at)) != 0; }
  static int compare(const void* a, const void* b, void*) {
    const float x = decode(load(a)), y = decode(load(b));
    return x < y ? -1 : x > y;
  }
  static int fill(void* data, npy_intp n, void*) {
    auto* all = static_cast<Bits*>(data);
    const float first = decode(all[0]), step = decode(all[1]) - first;
    for (npy_intp i = 2; i < n; ++i) all[i] = encode(first + static_cast<float>(i) * step);
    return 0;
  }
  static int fill_scalar(void* data, npy_intp n, void* from, void*) {
    for (npy_intp i = 0; i < n; ++i) static_cast<Bits*>(data)[i] = *static_cast<Bits*>(from);
    return 0;
  }
  static void dot(void* a, npy_intp a_step, void* b, npy_intp b_step, void* to, npy_intp n, void*) {
    float sum = 0;
    for (npy_intp i = 0; i < n; ++i)
      sum += decode(load(static_cast<char*>(a) + i * a_step)) * decode(load(static_cast<char*>(b) + i * b_step));
    store(to, encode(sum));
  }
  static int arg_max(void* data, npy_intp n, npy_intp* at, void*) {
    *at = 0;
    for (npy_intp i = 1; i < n; ++i)
      if (decode(static_cast<Bits*>(data)[i]) > decode(static_cast<Bits*>(data)[*at])) *at = i;
    return 0;
  }

  template <class T>
  static void to(void* from, void* out, npy_intp n, void*, void*) {
    for (npy_intp i = 0; i < n; ++i) static_cast<T*>(out)[i] = static_cast<T>(decode(static_cast<Bits*>(from)[i]));
  }
  template <class T>
  static void from(void* in, void* out, npy_intp n, void*, void*) {
    for (npy_intp i = 0; i < n; ++i) static_cast<Bits*>(out)[i] = encode(static_cast<float>(static_cast<T*>(in)[i]));
  }
  template <class T>
  static void casts(int other) {
    PyArray_RegisterCastFunc(descr, other, to<T>);
    PyArray_Descr* their = PyArray_DescrFromType(other);
    PyArray_RegisterCastFunc(their, number, from<T>);
    Py_DECREF(their);
  }

  template <auto kOp>
  static void two(char** args, const npy_intp* n, const npy_intp* steps, void*) {
    for (npy_intp i = 0; i < n[0]; ++i)
      store(args[2] + i * steps[2],
            encode(kOp(decode(load(args[0] + i * steps[0])), decode(load(args[1] + i * steps[1])))));
  }
  template <auto kOp>
  static void relation(char** args, const npy_intp* n, const npy_intp* steps, void*) {
    for (npy_intp i = 0; i < n[0]; ++i)
      *reinterpret_cast<npy_bool*>(args[2] + i * steps[2]) =
          kOp(decode(load(args[0] + i * steps[0])), decode(load(args[1] + i * steps[1])));
  }
  template <auto kOp>
  static void one(char** args, const npy_intp* n, const npy_intp* steps, void*) {
    for (npy_intp i = 0; i < n[0]; ++i)
      store(args[1] + i * steps[1], encode(kOp(decode(load(args[0] + i * steps[0])))));
  }
  template <auto kOp>
  static void test(char** args, const npy_intp* n, const npy_intp* steps, void*) {
    for (npy_intp i = 0; i < n[0]; ++i)
      *reinterpret_cast<npy_bool*>(args[1] + i * steps[1]) = kOp(decode(load(args[0] + i * steps[0])));
  }
};

void add_loop(py::module_& numpy, const char* name, int number, PyUFuncGenericFunction loop,
              std::initializer_list<int> types) {
  const py::object ufunc = numpy.attr(name);
  int all[3] = {0, 0, 0}, count = 0;
  for (const int type : types) all[count++] = type;
  if (PyUFunc_RegisterLoopForType(reinterpret_cast<PyUFuncObject*>(ufunc.ptr()), number, loop, all, nullptr) < 0)
    throw py::error_already_set();
}

template <Dtype D>
struct Loops {
  using F = Format<D>;
  py::module_& numpy;
  const int n = F::number;

  template <auto kOp>
  void two(const char* name) {
    add_loop(numpy, name, n, F::template two<kOp>, {n, n, n});
  }
  template <auto kOp>
  void relation(const char* name) {
    add_loop(numpy, name, n, F::template relation<kOp>, {n, n, NPY_BOOL});
  }
  template <auto kOp>
  void one(const char* name) {
    add_loop(numpy, name, n, F::template one<kOp>, {n, n});
  }
  template <auto kOp>
  void test(const char* name) {
    add_loop(numpy, name, n, F::template test<kOp>, {n, NPY_BOOL});
  }

  void add_all() {
    two<[](float x, float y) { return x + y; }>("add");
    two<[](float x, float y) { return x - y; }>("subtract");
    two<[](float x, float y) { return x * y; }>("multiply");
    two<[](float x, float y) { return x / y; }>("true_divide");
    two<[](float x, float y) { return x != x || (x > y) ? x : y; }>("maximum");
    two<[](float x, float y) { return x != x || x < y ? x : y; }>("minimum");
    two<[](float x, float y) { return std::pow(x, y); }>("power");
    relation<[](float x, float y) { return x < y; }>("less");
    relation<[](float x, float y) { return x <= y; }>("less_equal");
    relation<[](float x, float y) { return (x > y); }>("greater");
    relation<[](float x, float y) { return (x >= y); }>("greater_equal");
    relation<[](float x, float y) { return x == y; }>("equal");
    relation<[](float x, float y) { return x != y; }>("not_equal");
    one<[](float x) { return -x; }>("negative");
    one<[](float x) { return std::fabs(x); }>("absolute");
    one<[](float x) { return x * x; }>("square");
    one<[](float x) { return std::exp(x); }>("exp");
    one<[](float x) { return std::log(x); }>("log");
    one<[](float x) { return std::sqrt(x); }>("sqrt");
    one<[](float x) { return std::tanh(x); }>("tanh");
    test<[](float x) { return std::isnan(x); }>("isnan");
    test<[](float x) { return std::isinf(x); }>("isinf");
    test<[](float x) { return std::isfinite(x); }>("isfinite");
  }
};

template <Dtype D>
void set_type() {
  using F = Format<D>;
  static PyNumberMethods methods{};
  methods.nb_float = F::as_float, methods.nb_int = F::as_int;
  PyTypeObject& t = F::type;
  t.ob_base = PyVarObject{PyObject{1, nullptr}, 0};
  t.tp_name = F::kName;
  t.tp_basicsize = sizeof(typename F::Scalar);
  t.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  t.tp_base = &PyGenericArrType_Type;
  t.tp_new = F::make, t.tp_repr = F::text, t.tp_str = F::text, t.tp_hash = F::hash;
  t.tp_richcompare = F::compare_scalars, t.tp_as_number = &methods;
  if (PyType_Ready(&t) < 0) throw py::error_already_set();
}

template <Dtype D>
void set_functions() {
  using F = Format<D>;
  PyArray_ArrFuncs& f = F::functions;
  PyArray_InitArrFuncs(&f);
  f.getitem = reinterpret_cast<PyArray_GetItemFunc*>(F::get);
  f.setitem = reinterpret_cast<PyArray_SetItemFunc*>(F::set);
  f.copyswap = reinterpret_cast<PyArray_CopySwapFunc*>(F::swap);
  f.copyswapn = reinterpret_cast<PyArray_CopySwapNFunc*>(F::swap_many);
  f.nonzero = reinterpret_cast<PyArray_NonzeroFunc*>(F::nonzero);
  f.compare = reinterpret_cast<PyArray_CompareFunc*>(F::compare);
  f.fill = reinterpret_cast<PyArray_FillFunc*>(F::fill);
  f.fillwithscalar = reinterpret_cast<PyArray_FillWithScalarFunc*>(F::fill_scalar);
  f.dotfunc = reinterpret_cast<PyArray_DotFunc*>(F::dot);
  f.argmax = reinterpret_cast<PyArray_ArgFunc*>(F::arg_max);
}

template <Dtype D>
PyArray_Descr* new_descr(char letter) {
  using F = Format<D>;
  auto* d = PyObject_New(PyArray_Descr, &PyArrayDescr_Type);
  std::memset(reinterpret_cast<char*>(d) + sizeof(PyObject), 0, sizeof(PyArray_Descr) - sizeof(PyObject));
  Py_INCREF(&F::type);
  d->typeobj = &F::type, d->kind = 'V', d->type = letter, d->byteorder = '=';
  d->flags = NPY_NEEDS_PYAPI | NPY_USE_GETITEM | NPY_USE_SETITEM;
  d->elsize = sizeof(typename F::Bits), d->alignment = alignof(typename F::Bits), d->f = &F::functions, d->hash = -1;
  return d;
}

template <Dtype D>
void add_casts() {
  using F = Format<D>;
  F::template casts<float>(NPY_FLOAT), F::template casts<double>(NPY_DOUBLE), F::template casts<npy_bool>(NPY_BOOL);
  F::template casts<std::int8_t>(NPY_BYTE), F::template casts<std::uint8_t>(NPY_UBYTE);
  F::template casts<std::int16_t>(NPY_SHORT), F::template casts<std::uint16_t>(NPY_USHORT);
  F::template casts<std::int32_t>(NPY_INT), F::template casts<std::uint32_t>(NPY_UINT);
  F::template casts<long>(NPY_LONG), F::template casts<unsigned long>(NPY_ULONG);
  F::template casts<long long>(NPY_LONGLONG), F::template casts<unsigned long long>(NPY_ULONGLONG);
  PyArray_RegisterCanCast(F::descr, NPY_FLOAT, NPY_NOSCALAR);
}

template <Dtype D>
void add_format(py::module_& m, py::module_& numpy, char letter) {
  using F = Format<D>;
  set_type<D>();
  set_functions<D>();
  F::descr = new_descr<D>(letter);
  F::number = PyArray_RegisterDataType(F::descr);
  if (F::number < 0) throw py::error_already_set();
  add_casts<D>();
  PyDict_SetItemString(F::type.tp_dict, "dtype", reinterpret_cast<PyObject*>(F::descr));
  PyType_Modified(&F::type);
  Loops<D>{numpy}.add_all();
  m.attr(F::kName) = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&F::type));
}

bool import_numpy() {
  if (_import_array() < 0) return false;
  return _import_umath() >= 0;
}

}  // namespace

void add_dtypes(py::module_& m) {
  if (!import_numpy()) throw py::error_already_set();
  py::module_ numpy = py::module_::import("numpy");
  add_format<Dtype::kBf16>(m, numpy, 'E');
  add_format<Dtype::kFp8E4m3>(m, numpy, '4');
  add_format<Dtype::kFp8E5m2>(m, numpy, '5');
}

}  // namespace trnsim_python
