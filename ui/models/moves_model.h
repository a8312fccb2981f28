#pragma once

#include "ui/compare.h"
#include "ui/models/sealed_table_model.h"

#include <memory>

namespace pw::ui {

/// The ops that two placements have on different devices, with what each move does to the step.
class MovesModel : public SealedTableModel {
    Q_OBJECT

public:
    enum Column { OpGroup, FromTo, Output, Effect, ColumnCount };

    explicit MovesModel(QObject* parent = nullptr);
    void setComparison(std::shared_ptr<const Comparison> comparison);
    const std::vector<Move>& moves() const;

protected:
    int rows() const override;
    QVariant cell(int row, int column, int role) const override;

private:
    std::shared_ptr<const Comparison> m_comparison;
};

} // namespace pw::ui
