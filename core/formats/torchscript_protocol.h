#pragma once

#include "core/formats/formats.h"

namespace pw::formats {

/// What the child is asked: one line per sample input ("f32 1 3 224 224"), an empty line, the path.
struct TorchScriptRequest {
    std::string path;
    std::vector<SampleInput> inputs;
};
std::string toText(const TorchScriptRequest& request);
Result<TorchScriptRequest> requestFromText(std::string_view text);

/// The graph in the child's answer: three lines per warning (kind, place, detail), an empty line, graph JSON.
std::string toText(const OpGraph& graph);
Result<GraphPtr> graphFromText(std::string_view text);

/// The child's reason for not giving one: code, place and message, a line each.
std::string toText(const Error& error);
Error errorFromText(std::string_view text);

} // namespace pw::formats
