#pragma once

#include <google/protobuf/io/tokenizer.h>

#include <string>

namespace pw::formats {

/// Keeps the first error of protobuf's text parser, with its place for people.
class FirstError : public google::protobuf::io::ErrorCollector {
public:
    void AddError(int line, int column, const std::string& message) override {
        if (!text.empty())
            return;
        text = message;
        where = "line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1);
    }
    void AddWarning(int, int, const std::string&) override {}

    std::string text;
    std::string where;
};

} // namespace pw::formats
