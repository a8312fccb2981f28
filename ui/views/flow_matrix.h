#pragma once

#include "ui/compare.h"
#include "viz/theme/theme.h"

#include <QWidget>

namespace pw::ui {

/// Where the ops went: row = device in the base, column = device in the candidate, shaded by count.
class FlowMatrix : public QWidget {
    Q_OBJECT

public:
    explicit FlowMatrix(QWidget* parent = nullptr);
    void setComparison(std::shared_ptr<const Comparison> comparison);
    void setTheme(const viz::Theme& theme);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {200, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::shared_ptr<const Comparison> m_comparison;
    viz::Theme m_theme = viz::Theme::light();
};

} // namespace pw::ui
