#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QStringList>
#include <QTemporaryDir>

namespace pw::test {

struct CliRun {
    int exitCode = -1; ///< -1: crashed or did not end within two minutes
    QByteArray out;
    QByteArray err;
    QJsonObject json() const; ///< of stdout; empty if that is not one JSON object
};

/// Runs placewright-cli in `folder`.
CliRun runCli(const QStringList& arguments, const QString& folder = {});

/// A folder that holds small graphs, device sets and placements with known values.
class CliFolder {
public:
    CliFolder();
    QString path(const QString& name) const { return m_folder.filePath(name); }
    QString root() const { return m_folder.path(); }
    void write(const QString& name, const QByteArray& content) const;
    QByteArray read(const QString& name) const;
    CliRun run(const QStringList& arguments) const { return runCli(arguments, root()); }

private:
    QTemporaryDir m_folder;
};

} // namespace pw::test
