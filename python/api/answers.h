// The library's questions and answers as JSON: for the Python module. No logic of its own.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

namespace trnsim_python {

using Json = nlohmann::ordered_json;

/// Hears of events while a question is answered: {"event": "step", ...}; may be empty.
using Listener = std::function<void(const Json& event)>;

/// `question`: a name of the table in answers.cpp; `arguments` as python/trnsim/_api.py makes them. Errors: as the
/// library; Fault::kInternal for an unknown question.
Json answer_to(std::string_view question, const Json& arguments, const Listener& hear);

// By the files that answer them.

Json project(const Json& arguments, const Listener& hear);
Json project_each(const Json& arguments, const Listener& hear);
Json run(const Json& arguments, const Listener& hear);
Json search(const Json& arguments, const Listener& hear);
Json choose(const Json& arguments, const Listener& hear);
Json sweep(const Json& arguments, const Listener& hear);
Json generate(const Json& arguments, const Listener& hear);
Json validate(const Json& arguments, const Listener& hear);
Json ablate(const Json& arguments, const Listener& hear);

}  // namespace trnsim_python
