#pragma once

#include <QAbstractItemModel>
#include <QString>

#include <array>
#include <vector>

namespace pw::ui {

class Document;
class Project;

/// Graphs, placements of the current graph, device sets and trained policies: a tree of two levels.
class LibraryModel : public QAbstractItemModel {
    Q_OBJECT

public:
    enum Section { Graphs, Placements, DeviceSets, Policies, SectionCount };
    enum Role { SectionRole = Qt::UserRole, KeyRole, IconNameRole, CurrentRole, ProblemRole };
    struct Item {
        QString text;
        QString value;
        QString key; ///< graph or placement id, device set hash, run id
        QString icon;
        QString toolTip;
        bool current = false;
        bool problem = false; ///< an invalid placement
        bool operator==(const Item&) const = default;
    };

    LibraryModel(Document* document, Project* project, QObject* parent = nullptr);

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

    QModelIndex sectionIndex(Section section) const { return index(section, 0); }

private:
    void refresh(Section section);
    std::vector<Item> graphItems() const;
    std::vector<Item> placementItems() const;
    std::vector<Item> deviceItems() const;
    std::vector<Item> policyItems() const;

    Document* m_document;
    Project* m_project;
    std::array<std::vector<Item>, SectionCount> m_items;
};

} // namespace pw::ui
