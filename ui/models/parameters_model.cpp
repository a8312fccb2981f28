#include "ui/models/parameters_model.h"

#include "ui/words.h"

#include <QFont>

namespace pw::ui {

ParametersModel::ParametersModel(QObject* parent)
    : SealedTableModel({{tr("Parameter"), Qt::AlignLeft, false, {}},
                        {tr("Value"), Qt::AlignRight, true, tr("Double-click to change")},
                        {tr("Unit"), Qt::AlignLeft, false, {}},
                        {tr("Default"), Qt::AlignRight, false, {}},
                        {tr("Source"), Qt::AlignLeft, false, tr("Where the default comes from")},
                        {tr("What it does"), Qt::AlignLeft, false, {}}},
                       parent) {}

void ParametersModel::setParameters(std::vector<learn::ParameterInfo> parameters) {
    beginResetModel();
    m_parameters = std::move(parameters);
    m_values.clear();
    for (const auto& parameter : m_parameters)
        m_values.push_back(parameter.defaultValue);
    endResetModel();
    Q_EMIT valuesChanged();
}

std::map<std::string, std::string> ParametersModel::changed() const {
    std::map<std::string, std::string> result;
    for (int row = 0; row < rows(); ++row)
        if (isChanged(row))
            result[m_parameters[static_cast<std::size_t>(row)].key] = m_values[static_cast<std::size_t>(row)];
    return result;
}

void ParametersModel::setValue(const std::string& key, const std::string& value) {
    for (int row = 0; row < rows(); ++row)
        if (m_parameters[static_cast<std::size_t>(row)].key == key)
            setData(index(row, Value), words::fromUtf8(value), Qt::EditRole);
}

void ParametersModel::resetAll() {
    for (std::size_t i = 0; i < m_values.size(); ++i)
        m_values[i] = m_parameters[i].defaultValue;
    if (rows() > 0)
        Q_EMIT dataChanged(index(0, 0), index(rows() - 1, ColumnCount - 1));
    Q_EMIT valuesChanged();
}

QStringList ParametersModel::choices(int row) const {
    QStringList result;
    for (const auto& choice : m_parameters[static_cast<std::size_t>(row)].choices)
        result.append(words::fromUtf8(choice));
    return result;
}

bool ParametersModel::isChanged(int row) const {
    const auto i = static_cast<std::size_t>(row);
    return m_values[i] != m_parameters[i].defaultValue;
}

QVariant ParametersModel::cell(int row, int column, int role) const {
    const auto i = static_cast<std::size_t>(row);
    const learn::ParameterInfo& parameter = m_parameters[i];
    if (role == Qt::FontRole && isChanged(row) && column <= Value) {
        QFont bold;
        bold.setPixelSize(12);
        bold.setBold(true);
        return bold;
    }
    if (role == Qt::ToolTipRole)
        return words::fromUtf8(parameter.help) + QStringLiteral("\n--set %1=%2").arg(
                   words::fromUtf8(parameter.key), words::fromUtf8(m_values[i]));
    if (role == IdRole)
        return words::fromUtf8(parameter.key);
    if (role != Qt::DisplayRole && role != SortRole)
        return {};
    switch (column) {
    case Parameter: {
        QString title = words::fromUtf8(parameter.key).replace(QLatin1Char('_'), QLatin1Char(' '));
        return title.left(1).toUpper() + title.mid(1);
    }
    case Value: return words::fromUtf8(m_values[i]);
    case Unit: return words::fromUtf8(parameter.unit);
    case Default: return words::fromUtf8(parameter.defaultValue);
    case Source: return words::fromUtf8(parameter.source);
    case Help: return words::fromUtf8(parameter.help);
    }
    return {};
}

bool ParametersModel::edit(int row, int column, const QVariant& value) {
    const QString text = value.toString().trimmed();
    if (column != Value || text.isEmpty())
        return false;
    const QStringList allowed = choices(row);
    if (!allowed.isEmpty() && !allowed.contains(text))
        return false;
    m_values[static_cast<std::size_t>(row)] = text.toStdString();
    Q_EMIT valuesChanged();
    return true;
}

} // namespace pw::ui
