#include "core/formats/torchscript_protocol.h"

#include "core/base/text.h"
#include "core/formats/graph_json.h"

#include <algorithm>
#include <charconv>

namespace pw::formats {

namespace {

/// Line by line through a text.
class Lines {
public:
    explicit Lines(std::string_view text)
        : m_rest(text) {}

    std::string_view next() {
        const auto end = std::min(m_rest.find('\n'), m_rest.size());
        const std::string_view line = m_rest.substr(0, end);
        m_rest.remove_prefix(std::min(end + 1, m_rest.size()));
        return line;
    }
    std::string_view rest() const { return m_rest; }
    bool atEnd() const { return m_rest.empty(); }

private:
    std::string_view m_rest;
};

std::string oneLine(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

} // namespace

std::string toText(const TorchScriptRequest& request) {
    std::string text;
    for (const SampleInput& input : request.inputs) {
        text += oneLine(input.dtype);
        for (const std::int64_t dim : input.dims)
            text += " " + std::to_string(dim);
        text += '\n';
    }
    return text + '\n' + request.path;
}

Result<TorchScriptRequest> requestFromText(std::string_view text) {
    TorchScriptRequest request;
    Lines lines(text);
    for (std::string_view line = lines.next(); !line.empty(); line = lines.next()) {
        const auto parts = text::split(line, ' ');
        SampleInput input{{}, std::string(parts.front())};
        for (std::size_t i = 1; i < parts.size(); ++i) {
            const char* const end = parts[i].data() + parts[i].size();
            const auto [stop, error] = std::from_chars(parts[i].data(), end, input.dims.emplace_back());
            if (error != std::errc() || stop != end)
                return fail(ErrorCode::Parse, "no size: \"" + std::string(parts[i]) + "\"", "request");
        }
        request.inputs.push_back(std::move(input));
    }
    request.path = lines.rest();
    return request;
}

std::string toText(const OpGraph& graph) {
    std::string text;
    for (const Warning& warning : graph.warnings())
        text += oneLine(warning.kind) + "\n" + oneLine(warning.where) + "\n" + oneLine(warning.detail) + "\n";
    return text + "\n" + toGraphJson(graph);
}

Result<GraphPtr> graphFromText(std::string_view text) {
    Lines lines(text);
    std::vector<Warning> warnings;
    for (std::string_view kind = lines.next(); !kind.empty(); kind = lines.next()) {
        const std::string_view where = lines.next();
        warnings.push_back({std::string(kind), std::string(where), std::string(lines.next())});
    }
    PW_TRY(GraphBuilder builder, readGraphJson(lines.rest(), {}));
    builder.setFormat("torchscript");
    for (Warning& warning : warnings)
        builder.addWarning(std::move(warning.kind), std::move(warning.where), std::move(warning.detail));
    return std::move(builder).build();
}

std::string toText(const Error& error) {
    return std::string(errorCodeName(error.code)) + "\n" + oneLine(error.where) + "\n" + oneLine(error.message);
}

Error errorFromText(std::string_view text) {
    Lines lines(text);
    const std::string_view name = lines.next();
    Error error;
    error.code = ErrorCode::External;
    for (const ErrorCode code : {ErrorCode::NotFound, ErrorCode::Parse, ErrorCode::Invalid, ErrorCode::Unsupported,
                                 ErrorCode::Io, ErrorCode::Busy, ErrorCode::TooLarge, ErrorCode::Internal}) {
        if (name == errorCodeName(code))
            error.code = code;
    }
    error.where = text::toValidUtf8(lines.next());
    error.message = text::toValidUtf8(lines.rest());
    return error;
}

} // namespace pw::formats
