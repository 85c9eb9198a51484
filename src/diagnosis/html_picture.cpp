// The layers as boxes in rows, from the inputs down: each box in the row below the last of those that it needs.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diagnosis/html_layers.h"

namespace pt2onnx {
namespace {

using State = LayerPicture::State;

constexpr int kWidth = 230, kHeight = 40, kAcross = 24, kDown = 30, kMargin = 12;
constexpr std::size_t kLetters = 34;  // of a title that fit into a box

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text
                             : "..." + text.substr(text.size() - most + 3);  // the end of a path says more
}

struct Place {
  std::size_t row = 0;
  double column = 0;  // by which the boxes of a row are ordered; then their number in it
  int x = 0, y = 0;
};

class Layout {
 public:
  explicit Layout(const LayerPicture& picture) : picture_(picture), places_(picture.boxes.size()) {
    for (const auto& [from, to] : picture.arrows)
      places_[to].row = std::max(places_[to].row, places_[from].row + 1);
    std::vector<std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      rows.resize(std::max(rows.size(), places_[i].row + 1));
      rows[places_[i].row].push_back(i);
    }
    std::size_t widest = 1;
    for (const auto& row : rows) widest = std::max(widest, row.size());
    width_ = static_cast<int>(widest) * (kWidth + kAcross) - kAcross;
    for (auto& row : rows) place(row);
    height_ = static_cast<int>(rows.size()) * (kHeight + kDown) - kDown;
  }

  std::string svg(std::size_t number) const {
    // Arrows over several rows run beside the boxes, in lanes of their own.
    constexpr int kLane = 9;
    std::string arrows;
    int lane = 0;
    for (const auto& [from, to] : picture_.arrows) {
      const Place &a = places_[from], &b = places_[to];
      const char* kind = picture_.by_order ? "by-order" : "flow";
      const int end = b.y - 3;
      if (b.row == a.row + 1) {
        const int half = (end - a.y - kHeight) / 2;
        arrows += fmt::format(
            "<path class=\"{}\" marker-end=\"url(#tip)\" d=\"M{} {} c0 {} {} {} {} {}\"/>\n", kind,
            a.x + kWidth / 2, a.y + kHeight, half, b.x - a.x, half, b.x - a.x, end - a.y - kHeight);
        continue;
      }
      const int side = kMargin + width_ + kLane * (1 + lane++ % kLanes);
      arrows += fmt::format(
          "<path class=\"{}\" marker-end=\"url(#tip)\" d=\"M{} {} C{} {} {} {} {} {} L{} {} C{} {} {} {} {} "
          "{}\"/>\n",
          kind, a.x + kWidth, a.y + kHeight / 2, side, a.y + kHeight / 2, side, a.y + kHeight / 2, side,
          a.y + kHeight + kDown / 2, side, b.y - kDown / 2, side, b.y + kHeight / 2, side, b.y + kHeight / 2,
          b.x + kWidth + 3, b.y + kHeight / 2);
    }
    std::string boxes;
    for (std::size_t i = 0; i < places_.size(); ++i) boxes += box(picture_.boxes[i], places_[i], number);
    return fmt::format(
        "<svg role=\"img\" aria-label=\"the layers of the model and where their values go\" width=\"{}\" "
        "height=\"{}\">\n<defs><marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"3\" refY=\"3\" "
        "markerWidth=\"6\" "
        "markerHeight=\"6\" orient=\"auto\"><path d=\"M0 0 L6 3 L0 6\"/></marker></defs>\n{}{}</svg>\n",
        width_ + 2 * kMargin + (lane > 0 ? kLane * (1 + std::min(lane, kLanes)) : 0), height_ + 2 * kMargin,
        arrows, boxes);
  }

 private:
  static constexpr int kLanes = 8;

  /// Below the middle of what they need, as far as they do not push each other aside.
  void place(std::vector<std::size_t>& row) {
    for (const std::size_t box : row) {
      double sum = 0;
      int count = 0;
      for (const auto& [from, to] : picture_.arrows)
        if (to == box) sum += places_[from].x, ++count;
      places_[box].column = count > 0 ? sum / count : 0;
    }
    std::ranges::stable_sort(row, {}, [&](std::size_t box) { return places_[box].column; });
    const int taken = static_cast<int>(row.size()) * (kWidth + kAcross) - kAcross;
    int x = kMargin + (width_ - taken) / 2;
    for (const std::size_t box : row) {
      places_[box].x = x;
      places_[box].y = kMargin + static_cast<int>(places_[box].row) * (kHeight + kDown);
      x += kWidth + kAcross;
    }
  }

  static std::string box(const LayerPicture::Box& box, const Place& place, std::size_t number) {
    const char* state = box.state == State::Port      ? "port"
                        : box.state == State::Done    ? "done"
                        : box.state == State::Skipped ? "skipped"
                                                      : "failed";
    const int middle = place.x + kWidth / 2;
    std::string inside = fmt::format(
        "<title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/><text x=\"{}\" "
        "y=\"{}\" "
        "text-anchor=\"middle\">{}</text>",
        escaped(box.title + (box.note.empty() ? "" : "\n" + box.note)), place.x, place.y, kWidth, kHeight,
        middle, place.y + (box.note.empty() ? 25 : 17), escaped(shortened(box.title, kLetters)));
    if (!box.note.empty())
      inside += fmt::format("<text class=\"note\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>", middle,
                            place.y + 31, escaped(shortened(box.note, kLetters + 8)));
    if (box.state == State::Port) return fmt::format("<g class=\"{}\">{}</g>\n", state, inside);
    return fmt::format("<a href=\"#{}\"><g class=\"{}\">{}</g></a>\n", anchor_of(number, box.path), state,
                       inside);
  }

  const LayerPicture& picture_;
  std::vector<Place> places_;
  int width_ = 0, height_ = 0;
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string picture_section(const Report& report, std::size_t number) {
  if (report.picture.boxes.empty()) return {};
  return fmt::format("<h2>Graph</h2>\n{}<div class=\"picture\">\n{}</div>\n",
                     report.picture.by_order
                         ? "<p>In the order of the run. Red: not exportable; grey: behind what "
                           "failed.</p>\n"
                         : "",
                     Layout(report.picture).svg(number));
}

}  // namespace pt2onnx
