#pragma once

#include "core/devices/device_set.h"
#include "core/sim/simulator.h"

#include <QString>

namespace pw::viz {

/// Plain text for the tooltip of an op's bar: what it is, when it ran, and what it waited for: for the device (all
/// inputs were there), for an input (which one came last), for a link (its transfer stood in a queue).
QString opTip(const OpGraph& graph, const DeviceSet& devices, const Schedule& schedule, OpId op);
QString transferTip(const OpGraph& graph, const DeviceSet& devices, const Transfer& transfer);

/// The same reason as one line, for tests and the inspector.
QString waitReason(const OpGraph& graph, const DeviceSet& devices, const Schedule& schedule, OpId op);

} // namespace pw::viz
