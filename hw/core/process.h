// Errors thrown inside a SystemC process: the kernel would turn them into reports of its own and lose their text.
#pragma once

#include <exception>
#include <utility>

namespace hw {

/// The first error of the running simulation (hw/run/machine.cpp).
std::exception_ptr& process_error();

/// Runs the body of a process; keeps an error for Machine::run() to throw again.
template <typename Body>
void guarded(Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (...) {
    if (!process_error()) process_error() = std::current_exception();
    throw;
  }
}

}  // namespace hw
