// Where in the kernel we are: the first frame of Python outside of this package.
#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "python/nki/bind.h"

namespace trnsim_python {
namespace {

using runtime::nki::Trace;

class Lines {
 public:
  static Lines& instance() {
    static Lines lines;
    return lines;
  }
  /// Another trace may lie where an earlier one was.
  void forget() { trace_ = nullptr; }
  void add_package(std::string folder) { packages_.push_back(std::move(folder)); }

  std::string text() {
    PyFrameObject* frame = outside();
    if (!frame) return "kernel";
    PyCodeObject* code = PyFrame_GetCode(frame);
    const std::string file = py::str(reinterpret_cast<PyObject*>(code->co_filename));
    Py_DECREF(code);
    const int line = PyFrame_GetLineNumber(frame);
    Py_DECREF(frame);
    return file + ":" + std::to_string(line);
  }

  /// The label of that line. Frames of a code object run its lines again and again: they are looked up by place.
  std::uint32_t label(Trace& trace) {
    if (&trace != trace_) places_.clear(), texts_.clear(), trace_ = &trace;
    PyFrameObject* frame = outside();
    if (!frame) return 0;
    PyCodeObject* code = PyFrame_GetCode(frame);
    const Place place{code, PyFrame_GetLasti(frame)};
    Py_DECREF(code);
    auto found = places_.find(place);
    if (found == places_.end()) {
      const std::string line = text();
      const auto [same, added] = texts_.try_emplace(line, 0);
      if (added) same->second = trace.add_label(line);
      found = places_.emplace(place, same->second).first;
    }
    Py_DECREF(frame);
    return found->second;
  }

 private:
  struct Place {
    void* code;
    int at;
    bool operator==(const Place&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Place& p) const {
      return std::hash<void*>{}(p.code) * 31 + static_cast<std::size_t>(p.at);
    }
  };

  bool inside(PyCodeObject* code) {
    const auto [found, added] = inside_.try_emplace(code, false);
    if (added) {
      Py_INCREF(code);  // its address stays its own
      const std::string file = py::str(reinterpret_cast<PyObject*>(code->co_filename));
      found->second = file.starts_with("<frozen") ||
                      std::ranges::any_of(packages_, [&](const std::string& p) { return file.starts_with(p); });
    }
    return found->second;
  }
  /// A new reference, or null.
  PyFrameObject* outside() {
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame) {
      PyCodeObject* code = PyFrame_GetCode(frame);
      const bool ours = inside(code);
      Py_DECREF(code);
      if (!ours) return frame;
      PyFrameObject* back = PyFrame_GetBack(frame);
      Py_DECREF(frame);
      frame = back;
    }
    return nullptr;
  }

  std::vector<std::string> packages_;  // this one, and NumPy, which calls a tile's operators
  Trace* trace_ = nullptr;
  std::unordered_map<PyCodeObject*, bool> inside_;
  std::unordered_map<Place, std::uint32_t, Hash> places_;
  std::unordered_map<std::string, std::uint32_t> texts_;
};

}  // namespace

std::string kernel_line() { return Lines::instance().text(); }

void begin_trace() { Lines::instance().forget(); }

void label_line(Trace& trace) { trace.label(Lines::instance().label(trace)); }

Unnamed& unnamed() {
  static Unnamed counts;
  return counts;
}

void refuse(const std::string& problem, const std::string& fix) {
  throw base::Error{base::Fault::kProgram, "", problem, fix};
}

void bind_lines(py::module_& m) {
  m.def("_package", [](std::string folder) { Lines::instance().add_package(std::move(folder)); });
  m.def("_line", kernel_line);
  m.def("_refs", [](const py::object& value) { return value.ref_count(); });
  m.def("_set_unnamed", [](Py_ssize_t assigned, Py_ssize_t added) { unnamed() = {assigned, added}; });
}

}  // namespace trnsim_python
