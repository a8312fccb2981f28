#include "app/cli/pictures.h"

namespace pw::cli {

namespace {
Status noPictures() {
    return fail(ErrorCode::Unsupported, "this build has no pictures (PW_BUILD_GUI=OFF)");
}
} // namespace

Status renderPicture(const GraphPtr&, const DeviceSet*, const OpPlacement*, const PictureOptions&, const std::string&) {
    return noPictures();
}

Status renderRewardCurve(const std::vector<Curve>&, const std::vector<std::pair<std::string, double>>&, const std::string&) {
    return noPictures();
}

} // namespace pw::cli
