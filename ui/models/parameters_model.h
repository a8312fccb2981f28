#pragma once

#include "core/learn/learn.h"
#include "ui/models/sealed_table_model.h"

#include <map>

namespace pw::ui {

/// Every parameter a method declares, with the value of the run to be started.
class ParametersModel : public SealedTableModel {
    Q_OBJECT

public:
    enum Column { Parameter, Value, Unit, Default, Source, Help, ColumnCount };

    explicit ParametersModel(QObject* parent = nullptr);
    void setParameters(std::vector<learn::ParameterInfo> parameters);
    const std::vector<learn::ParameterInfo>& parameters() const { return m_parameters; }
    /// Only what differs from the defaults: what a RunSpec holds.
    std::map<std::string, std::string> changed() const;
    void setValue(const std::string& key, const std::string& value);
    void resetAll();
    QStringList choices(int row) const;

Q_SIGNALS:
    void valuesChanged();

protected:
    int rows() const override { return static_cast<int>(m_parameters.size()); }
    QVariant cell(int row, int column, int role) const override;
    bool edit(int row, int column, const QVariant& value) override;

private:
    bool isChanged(int row) const;

    std::vector<learn::ParameterInfo> m_parameters;
    std::vector<std::string> m_values;
};

} // namespace pw::ui
