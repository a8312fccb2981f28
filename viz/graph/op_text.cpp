#include "viz/graph/op_text.h"

#include <QStringList>

#include <cctype>
#include <string_view>

namespace pw::viz {

namespace {

/// First two whole numbers of an attribute such as "[3, 3]" or "3,3".
QString kernelOf(const Op& op) {
    for (const auto& [key, value] : op.attributes) {
        if (key != "kernel_shape" && key != "kernel" && key != "kernel_size")
            continue;
        QStringList numbers;
        for (std::size_t i = 0; i < value.size() && numbers.size() < 2;) {
            std::size_t end = i;
            while (end < value.size() && std::isdigit(static_cast<unsigned char>(value[end])) != 0)
                ++end;
            if (end > i && end - i <= 4)
                numbers += QString::fromLatin1(value.data() + i, static_cast<int>(end - i));
            i = end > i ? end : i + 1;
        }
        return numbers.join(QChar(0x00D7));
    }
    return {};
}

} // namespace

QString shortName(const std::string& name, int most) {
    const QString text = QString::fromStdString(name);
    if (text.size() <= most)
        return text;
    return text.left(most * 2 / 3) + QChar(0x2026) + text.right(most / 3 - 1);
}

QString opTitle(const Op& op) {
    if (op.type.empty()) {
        const std::size_t slash = op.name.find_last_of('/');
        return shortName(slash == std::string::npos ? op.name : op.name.substr(slash + 1), 60);
    }
    std::string_view type = op.type;
    if (const std::size_t domain = type.rfind("::"); domain != std::string_view::npos && domain + 2 < type.size())
        type = type.substr(domain + 2);
    QString title = shortName(std::string(type), 60);
    const QString kernel = kernelOf(op);
    return kernel.isEmpty() ? title : title + QLatin1Char(' ') + kernel;
}

QString shapeText(const Tensor& tensor) {
    if (!tensor.shapeKnown)
        return {};
    QStringList dims;
    for (const std::int64_t dim : tensor.dims) {
        if (dims.size() == 6) {
            dims += QString(QChar(0x2026));
            break;
        }
        dims += dim < 0 ? QStringLiteral("?") : QString::number(dim);
    }
    return dims.isEmpty() ? QStringLiteral("scalar") : dims.join(QChar(0x00D7));
}

} // namespace pw::viz
