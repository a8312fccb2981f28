#pragma once

#include "core/experiment/run_repository.h"

#include <QObject>

namespace pw::test {

/// What every RunRepository promises. An implementation's test derives from it and says how to make an empty one.
class RepositoryConformance : public QObject {
    Q_OBJECT

protected:
    virtual RepositoryPtr makeEmpty() = 0;

private Q_SLOTS:
    void init();
    void graphIsStoredOnceAndComesBack();
    void deviceSetIsStoredOnceAndComesBack();
    void runIsRecordedFromStartToEnd();
    void metricsAreKeptInOrderOfSteps();
    void sampleReplacesItsStep();
    void nanIsLeftOut();
    void placementComesBack();
    void badPlacementIsRefused();
    void bestPlacementShowsInTheRun();
    void lastTwoCheckpointsAreKept();
    void policyComesBack();
    void reopenDropsLaterSamples();
    void runsAreFilteredAndPaged();
    void tagsAreReplacedAndSorted();
    void deletedRunIsGoneWithAllThatIsItsOwn();
    void layoutsComeBack();
    void missingIdsAreNotFound();
    void writersAndReadersShareIt();

private:
    RowId startRun(const std::string& name = "run");
    RunSpec spec() const;

    RepositoryPtr m_repository;
    RowId m_graph = 0;
    RowId m_devices = 0;
};

} // namespace pw::test
