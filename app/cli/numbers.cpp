#include "app/cli/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace pw::cli {

namespace {

template<class Number>
bool parses(const std::string& text, Number& value) {
    const char* begin = text.data();
    const char* end = begin + text.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc() && stop == end;
}

/// CLI11 reports the returned text, empty = fine, after the option's name.
std::string wholeNumberProblem(std::string& text) {
    std::uint64_t value = 0;
    return parses(text, value) ? std::string() : "'" + text + "' is not a whole number from 0 to 18446744073709551615";
}

std::string realNumberProblem(std::string& text) {
    double value = 0.0;
    return parses(text, value) && std::isfinite(value) ? std::string() : "'" + text + "' is not a finite number";
}

std::string negativeProblem(std::string& text) {
    double value = 0.0;
    return parses(text, value) && value >= 0.0 ? std::string() : "'" + text + "' is not a number of 0 or more";
}

} // namespace

CLI::Validator nonNegative() {
    return CLI::Validator(negativeProblem, "0 or more");
}

void refuseBentNumbers(CLI::App& app) {
    for (CLI::Option* option : app.get_options()) {
        const std::string type = option->get_type_name();
        if (type.rfind("UINT", 0) == 0)
            option->check(CLI::Validator(wholeNumberProblem, ""));
        else if (type.rfind("FLOAT", 0) == 0)
            option->check(CLI::Validator(realNumberProblem, ""));
    }
    for (CLI::App* command : app.get_subcommands({}))
        refuseBentNumbers(*command);
}

} // namespace pw::cli
