#include "core/base/text.h"
#include "core/formats/published.h"

#include <charconv>
#include <cmath>

/// Standard Task Graph files (Kasahara laboratory): the number of tasks, in prototype files also that of processors,
/// then a line per task: id, time, number of predecessors, predecessors.
namespace pw::formats {

namespace {

using Fields = std::vector<std::string_view>;

Fields fieldsOf(std::string_view line) {
    Fields fields;
    while (true) {
        line = line.substr(std::min(line.find_first_not_of(" \t\r"), line.size()));
        if (line.empty())
            return fields;
        const auto end = std::min(line.find_first_of(" \t\r"), line.size());
        fields.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

Result<double> numberFrom(std::string_view field, const std::string& where) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value) || value < 0.0)
        return fail(ErrorCode::Parse,
                    "expected a number, 0 or more, found \"" + text::toValidUtf8(field.substr(0, 40)) + "\"", where);
    return value;
}

Result<std::size_t> countFrom(std::string_view field, const std::string& where) {
    PW_TRY(const double value, numberFrom(field, where));
    if (std::floor(value) != value || value > 1.0e9)
        return fail(ErrorCode::Parse, "expected a whole number, found \"" + std::string(field) + "\"", where);
    return static_cast<std::size_t>(value);
}

class TaskReader {
public:
    TaskReader(const Source& source, const LoadOptions& options)
        : m_builder(source.baseName, "stg")
        , m_options(options) {}

    Result<GraphPtr> read(std::string_view content) {
        bool isFirst = true;
        for (m_line = 1; !content.empty(); ++m_line) {
            if (m_options.stop.stop_requested())
                return fail(ErrorCode::Busy, "cancelled");
            const auto end = std::min(content.find('\n'), content.size());
            const Fields fields = fieldsOf(content.substr(0, end));
            content.remove_prefix(std::min(end + 1, content.size()));
            if (fields.empty() || fields.front().starts_with('#'))
                continue;
            PW_CHECK(isFirst ? readCounts(fields) : addTask(fields));
            isFirst = false;
        }
        if (isFirst)
            return fail(ErrorCode::Parse, "holds no number of tasks");
        PW_CHECK(finish());
        return std::move(m_builder).build();
    }

private:
    struct Dependency {
        std::string before;
        OpId task;
        std::size_t line = 0;
    };

    std::string where() const { return "line " + std::to_string(m_line); }

    Status readCounts(const Fields& fields) {
        if (fields.size() > 2)
            return fail(ErrorCode::Parse, "expected the number of tasks", where());
        PW_TRY(m_taskCount, countFrom(fields[0], where()));
        if (fields.size() == 2) {
            PW_TRY(const std::size_t processors, countFrom(fields[1], where()));
            m_builder.addWarning("processors", where(),
                                 "the file is meant for " + std::to_string(processors) + " processors");
        }
        return {};
    }

    Status addTask(const Fields& fields) {
        if (fields.size() < 3)
            return fail(ErrorCode::Parse, "expected id, time, number of predecessors", where());
        PW_TRY(const std::size_t id, countFrom(fields[0], where() + ", id"));
        PW_TRY(const double time, numberFrom(fields[1], where() + ", time"));
        PW_TRY(const std::size_t count, countFrom(fields[2], where() + ", number of predecessors"));
        if (fields.size() != count + 3)
            return fail(ErrorCode::Parse,
                        "expected " + std::to_string(count) + " predecessors, found " +
                            std::to_string(fields.size() - 3),
                        where());
        Op op;
        op.name = "task" + std::to_string(id);
        op.type = "Task";
        op.costs = {{"", time}};
        op.attributes.emplace_back("id", std::to_string(id));
        const OpId task = m_builder.addOp(std::move(op));
        m_builder.addOutput(task);
        PW_CHECK(m_tasks.add(std::to_string(id), task, where()));
        for (std::size_t i = 3; i < fields.size(); ++i) {
            PW_TRY(const std::size_t before, countFrom(fields[i], where() + ", predecessor"));
            m_dependencies.push_back({std::to_string(before), task, m_line});
        }
        return {};
    }

    /// The dummies at both ends are not counted by the files' first line.
    Status finish() {
        const std::size_t found = m_builder.opCount();
        if (found != m_taskCount && found != m_taskCount + 2)
            return fail(ErrorCode::Parse, "the first line names " + std::to_string(m_taskCount) + " tasks, there are " +
                                              std::to_string(found) +
                                              " (expected are as many, or two more with the dummies at both ends)");
        if (found == m_taskCount + 2) {
            m_builder.op(OpId(std::size_t{0})).type = "Dummy";
            m_builder.op(OpId(found - 1)).type = "Dummy";
        }
        for (const Dependency& dependency : m_dependencies) {
            PW_TRY(const OpId before, m_tasks.find(dependency.before, "line " + std::to_string(dependency.line)));
            m_builder.addInput(dependency.task, m_builder.output(before, 0));
        }
        m_builder.addWarning("unit", "", "the file names no unit of time; its times are taken as microseconds");
        return {};
    }

    GraphBuilder m_builder;
    const LoadOptions& m_options;
    NodeTable m_tasks;
    std::vector<Dependency> m_dependencies;
    std::size_t m_taskCount = 0;
    std::size_t m_line = 0;
};

} // namespace

Result<GraphPtr> importStg(const Source& source, const LoadOptions& options) {
    PW_TRY(const std::string content, source.text());
    return TaskReader(source, options).read(content);
}

} // namespace pw::formats
