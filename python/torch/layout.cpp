#include "python/torch/layout.h"

#include <structmember.h>

#include <string>

namespace trnsim_python {

Slot::Slot(py::handle type, const char* name) {
  const py::object member = type.attr("__dict__")[name];
  if (!Py_IS_TYPE(member.ptr(), &PyMemberDescr_Type)) {
    throw py::type_error(std::string{name} + " is not a slot of its class");
  }
  offset_ = reinterpret_cast<PyMemberDescrObject*>(member.ptr())->d_member->offset;
}

ValueLayout::ValueLayout(py::handle given)
    : type{given.attr("Value")},
      node{type, "node"},
      index{type, "index"},
      buffer{type, "buffer"},
      host{type, "host"},
      meta{type, "meta"} {}

NodeLayout::NodeLayout(py::handle given)
    : type{given.attr("Node")},
      count{type.attr("count")},
      call{type, "call"},
      inputs{type, "inputs"},
      sequence{type, "sequence"},
      graph{type, "graph"},
      place{type, "place"} {}

TensorLayout::TensorLayout(py::handle given)
    : type{given.attr("DeviceTensor")},
      make{given.attr("MAKE")},
      storage{type, "_base_storage"},
      chain{type, "_chain"},
      meta{type, "_meta"},
      seen{type, "_seen"} {}

StorageLayout::StorageLayout(py::handle given)
    : type{given.attr("Storage")},
      live{given.attr("LIVE")},
      trim{live.attr("trim")},
      value{type, "value"},
      home{type, "home"},
      version{type, "version"},
      meta{type, "meta"},
      references{py::type::of(live), "references"},
      most{py::type::of(live), "most"} {}

CallLayout::CallLayout(py::handle given)
    : kind{given.attr("Call"), "kind"},
      ins{given.attr("Call"), "ins"},
      outs{given.attr("Call"), "outs"},
      single{given.attr("Call"), "single"},
      steps{given.attr("Call"), "steps"},
      id{given.attr("Call"), "id"} {}

StepLayout::StepLayout(py::handle given) : call{given.attr("Step"), "call"}, index{given.attr("Step"), "index"} {}

OperatorLayout::OperatorLayout(py::handle given)
    : scaled{given.attr("Known"), "scaled"},
      calls{given.attr("Known"), "calls"},
      way{given.attr("Known"), "way"},
      writing{given.attr("Known"), "writing"},
      plain{given.attr("Writing"), "known"},
      count{given.attr("Writing"), "count"},
      names{given.attr("Writing"), "names"} {}

MetaLayout::MetaLayout(py::handle given)
    : shape{given.attr("Meta"), "shape"},
      dtype{given.attr("Meta"), "dtype"},
      key{given.attr("Meta"), "key"},
      form{given.attr("Meta"), "form"} {}

}  // namespace trnsim_python
