// Dim by example. core_dim_properties.cpp has its laws.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "pt2onnx/dim.h"

namespace pt2onnx {

// GoogleTest finds it here and under this name only. NOLINTNEXTLINE(readability-identifier-naming)
static void PrintTo(const Dim& dim, std::ostream* out) { *out << dim.str(); }

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

class DimTest : public ::testing::Test {
 protected:
  const Dim n = Dim::symbol("n", 1);
  const Dim c = Dim::symbol("c", 1);
  const Dim h = Dim::symbol("h");
  const Dim w = Dim::symbol("w");
};

TEST_F(DimTest, NumbersAreStatic) {
  EXPECT_EQ(Dim().known(), 0);
  EXPECT_EQ((Dim(3) * 4 - 5).known(), 7);
  EXPECT_TRUE((h - h).is_static());
  EXPECT_FALSE(h.is_static());
  EXPECT_EQ(h.known(), std::nullopt);
  EXPECT_EQ((h * 0).known(), 0);
  EXPECT_TRUE(Dim(3).terms().empty());
}

TEST_F(DimTest, RingArithmeticIsCanonical) {
  EXPECT_EQ(h * 2 - h, h);
  EXPECT_EQ((h + w) * (h - w), h * h - w * w);
  EXPECT_EQ(n * c * h, h * n * c);
  EXPECT_NE(h, w);
  EXPECT_NE(h, h + 1);
  EXPECT_NE(h * h, h);
}

TEST_F(DimTest, ReadsWell) {
  EXPECT_EQ(Dim::symbol("batch").str(), "batch");
  EXPECT_EQ(Dim(-7).str(), "-7");
  EXPECT_EQ((2 * h + 1).str(), "2*h + 1");
  EXPECT_EQ((n * c).str(), "c*n");
  EXPECT_EQ((5 - h).str(), "5 - h");
  EXPECT_EQ((-h - 1).str(), "-h - 1");
  EXPECT_EQ((h * h - w).str(), "h*h - w");
  EXPECT_EQ(floor_div(h, 2).str(), "floor(h/2)");
  EXPECT_EQ(floor_div(h + 1, 2).str(), "floor((h + 1)/2)");
  EXPECT_EQ(floor_div(h, 2 * w).str(), "floor(h/(2*w))");
  EXPECT_EQ(floor_div(h * h, w + 1).str(), "floor(h*h/(w + 1))");
  EXPECT_EQ(max(h, w).str(), "max(h, w)");
  EXPECT_EQ(max(w, max(h, Dim(9))).str(), "max(9, h, w)");
  EXPECT_EQ(to_string(Shape{Dim::symbol("batch"), 3, 224, 224}), "[batch, 3, 224, 224]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST_F(DimTest, OddSymbolNamesAreQuotedInsideAnExpression) {
  const Dim odd = Dim::symbol("my-axis");
  EXPECT_EQ(odd.str(), "my-axis");
  EXPECT_EQ((odd + 1).str(), "\"my-axis\" + 1");
  EXPECT_EQ(odd.symbol_name(), "my-axis");
  EXPECT_NE((Dim::symbol("a*b") + 1).str(), (Dim::symbol("a") * Dim::symbol("b") + 1).str());
  EXPECT_NE(Dim::symbol("floor(h/2)"), floor_div(h, 2));
  EXPECT_NE(2 * Dim::symbol("3"), Dim(6));
}

TEST_F(DimTest, KnowsWhetherItIsOneSymbol) {
  EXPECT_EQ(h.symbol_name(), "h");
  EXPECT_EQ((h + w - w).symbol_name(), "h");
  for (const Dim& other : {Dim(3), 2 * h, h + 1, h * w, h * h, floor_div(h, 2), max(h, w), h + w}) {
    EXPECT_EQ(other.symbol_name(), std::nullopt) << other.str();
  }
}

TEST_F(DimTest, ListsItsSymbols) {
  EXPECT_EQ((h * w + floor_div(n, c) + h).symbols(), (std::vector<std::string>{"h", "w", "n", "c"}));
  EXPECT_TRUE(Dim(3).symbols().empty());
}

TEST_F(DimTest, DivisionRoundsDownAsInPython) {
  const std::int64_t rows[][4] = {{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1},
                                  {6, 3, 2, 0}, {-6, 3, -2, 0}, {0, 5, 0, 0}};
  for (const auto& [a, b, quotient, rest] : rows) {
    EXPECT_EQ(floor_div(a, b), quotient) << a << "//" << b;
    EXPECT_EQ(mod(a, b), rest) << a << '%' << b;
  }
  EXPECT_EQ(ceil_div(Dim(7), Dim(2)), 4);
  EXPECT_EQ(ceil_div(Dim(-7), Dim(2)), -3);
  EXPECT_EQ(ceil_div(Dim(7), Dim(-2)), -3);
  EXPECT_THROW(floor_div(h, 0), std::domain_error);
  EXPECT_THROW(mod(Dim(1), w - w), std::domain_error);
}

TEST_F(DimTest, ExactDivisionLeavesNoDivision) {
  EXPECT_EQ(floor_div(n * c * h * w, c * h), n * w);
  EXPECT_EQ(floor_div(n * c * h * w, n * c * h * w), 1);
  EXPECT_EQ(floor_div(12 * n + 8, 4), 3 * n + 2);
  EXPECT_EQ(floor_div((n + 1) * (h + w) * 3, h + w), 3 * n + 3);
  EXPECT_EQ(floor_div(h * h - w * w, h + w), h - w);
  EXPECT_EQ(floor_div(n * c * floor_div(h, 2), n * c), floor_div(h, 2));
  EXPECT_EQ(floor_div(h, -1), -h);
  EXPECT_EQ(floor_div(-h, h), -1);
}

TEST_F(DimTest, WholePartsLeaveADivision) {
  EXPECT_EQ(floor_div(h + 2, 2), floor_div(h, 2) + 1);
  EXPECT_EQ(floor_div(3 * h + 1, 2), h + floor_div(h + 1, 2));
  EXPECT_EQ(floor_div(h + n * w, w), n + floor_div(h, w));
  EXPECT_EQ(floor_div(h, -2), floor_div(-h, 2));
  EXPECT_EQ(floor_div(6 * h + 5, 4), h + floor_div(h + 2, 2));
}

TEST_F(DimTest, CommonFactorsCancel) {
  EXPECT_EQ(floor_div(2 * h, 4), floor_div(h, 2));
  EXPECT_EQ(floor_div(2 * h + 1, 4), floor_div(h, 2));
  EXPECT_EQ(floor_div(h * n, 2 * h), floor_div(n, 2));
  EXPECT_EQ(floor_div(h * n, w * n), floor_div(h, w));
}

TEST_F(DimTest, NestedDivisionsMerge) {
  EXPECT_EQ(floor_div(floor_div(h, 2), 3), floor_div(h, 6));
  EXPECT_EQ(floor_div(floor_div(h, c), n), floor_div(h, c * n));
  EXPECT_EQ(floor_div(floor_div(h, 2) + 1, 2), floor_div(h + 2, 4));
  Dim size = h;  // five convolutions of stride 2 with padding
  for (int i = 0; i < 5; ++i) size = floor_div(size - 1, 2) + 1;
  EXPECT_EQ(size.str(), "floor((h + 31)/32)");
}

TEST_F(DimTest, PaddingToAMultipleRoundsUp) {
  const Dim padded = h + mod(-h, 32);
  EXPECT_EQ(padded.str(), "32*floor((h + 31)/32)");
  EXPECT_EQ(h + mod(7 - mod(h, 7), 7), 7 * ceil_div(h, 7));
  EXPECT_EQ(floor_div(padded, 32), ceil_div(h, 32));
}

TEST_F(DimTest, RemaindersVanishWhereTheyAreKnown) {
  EXPECT_EQ(mod(n * c, c), 0);
  EXPECT_EQ(mod(4 * h + 3, 2), 1);
  EXPECT_EQ(mod(h, 1), 0);
  EXPECT_EQ(floor_div(mod(h, 4), 4), 0);
  EXPECT_EQ(mod(mod(h, 4), 4), mod(h, 4));
  EXPECT_EQ(mod(mod(h, 6), 3), mod(h, 3));
  EXPECT_EQ(floor_div(Dim(-1), n + 1), -1);
  EXPECT_EQ(ceil_div(n * c, c), n);
}

TEST_F(DimTest, TheSkipConnectionOfAUNetPadsByTheRemainder) {
  const Dim missing = h - 2 * floor_div(h, 2);
  EXPECT_EQ(missing, mod(h, 2));
  EXPECT_EQ(floor_div(missing, 2), 0);
  EXPECT_EQ(missing.lower_bound(), 0);
  EXPECT_EQ(missing.upper_bound(), 1);
  EXPECT_EQ(2 * floor_div(h, 2) + missing, h);
}

TEST_F(DimTest, MaximaOfOrderedThingsResolve) {
  EXPECT_EQ(max(h, h), h);
  EXPECT_EQ(max(h, 0), h);
  EXPECT_EQ(max(n - 1, 0), n - 1);
  EXPECT_EQ(max(h + 1, h), h + 1);
  EXPECT_EQ(max(h, h - w), h);
  EXPECT_EQ(max(Dim(3), Dim(-4)), 3);
  EXPECT_EQ(max(n * n, n), n * n);
  EXPECT_EQ(max(floor_div(h, 2), h), h);
  EXPECT_EQ(min(h, 0), 0);
  EXPECT_EQ(min(n, 1), 1);
  EXPECT_EQ(min(h, Dim(kMax)), h);
  EXPECT_EQ(max(h, Dim(kMax)), kMax);
  EXPECT_EQ(max(h, Dim(kMin)), h);
}

TEST_F(DimTest, ClampsResolve) {
  const Dim five = min(Dim(5), h);
  EXPECT_EQ(max(Dim(0), five), five);
  EXPECT_EQ(min(five, h), five);
  EXPECT_EQ(min(five, Dim(9)), five);
  EXPECT_EQ(five.lower_bound(), 0);
  EXPECT_EQ(five.upper_bound(), 5);
  EXPECT_EQ(provably_less(h, five), false);
}

TEST_F(DimTest, MaximaAreFlatAndWithoutCommonParts) {
  EXPECT_EQ(max(h, w), max(w, h));
  EXPECT_EQ(max(max(h, w), c), max(h, max(c, w)));
  EXPECT_EQ(max(max(h, w), w), max(h, w));
  EXPECT_EQ(max(h + n, w + n), max(h, w) + n);
  EXPECT_EQ(max(2 * h, 2 * w), 2 * max(h, w));
  EXPECT_EQ(max(n * h, n * w), n * max(h, w));
  EXPECT_EQ(max(h - w, 0), h - min(h, w));
  EXPECT_EQ(max(max(h, w) + 1, c), max(max(h + 1, w + 1), c));
  EXPECT_EQ(min(h, w) + max(h, w), h + w);
}

TEST_F(DimTest, BoundsFollowFromTheMinima) {
  EXPECT_EQ(h.lower_bound(), 0);
  EXPECT_EQ(h.upper_bound(), std::nullopt);
  EXPECT_EQ((-n).upper_bound(), -1);
  EXPECT_EQ((-n).lower_bound(), std::nullopt);
  EXPECT_EQ((3 * n * c + 2).lower_bound(), 5);
  EXPECT_EQ((h - w).lower_bound(), std::nullopt);
  EXPECT_EQ((n * n - n).lower_bound(), 0);
  EXPECT_EQ(floor_div(h + 7, 2).lower_bound(), 3);
  EXPECT_EQ(floor_div(Dim(7), n).upper_bound(), 7);
  EXPECT_EQ(max(h, Dim(4)).lower_bound(), 4);
  EXPECT_EQ(Dim(9).upper_bound(), 9);
  EXPECT_EQ(Dim::symbol("any", kMin).lower_bound(), kMin);
  EXPECT_EQ((Dim::symbol("any", kMin) - 1).lower_bound(), std::nullopt);
}

TEST_F(DimTest, ProvesWhatHoldsForAllSizes) {
  EXPECT_EQ(provably_equal(h, h), true);
  EXPECT_EQ(provably_equal(h, h + 1), false);
  EXPECT_EQ(provably_equal(h, w), std::nullopt);
  EXPECT_EQ(provably_equal(n, 0), false);
  EXPECT_EQ(provably_equal(h, 0), std::nullopt);
  EXPECT_EQ(provably_equal(2 * h, 2 * w + 1), false);
  EXPECT_EQ(provably_equal(h - floor_div(h, 2), floor_div(h + 1, 2)), true);
  EXPECT_EQ(provably_equal(Dim(2), Dim(3)), false);

  EXPECT_EQ(provably_less(h, h + 1), true);
  EXPECT_EQ(provably_less(h, h), false);
  EXPECT_EQ(provably_less(h, w), std::nullopt);
  EXPECT_EQ(provably_less(Dim(0), n), true);
  EXPECT_EQ(provably_less(n, 1), false);
  EXPECT_EQ(provably_less(mod(h, c), c), true);
  EXPECT_EQ(provably_less(mod(h, c), 0), false);
  EXPECT_EQ(provably_less(n * mod(h, 2), 0), false);
  EXPECT_EQ(provably_less(floor_div(n, 2), n), true);
  EXPECT_EQ(provably_less(Dim(kMax), h), false);
  EXPECT_EQ(provably_less(h, Dim(kMin)), false);
}

TEST_F(DimTest, EvaluatesUnderAnAssignment) {
  const auto lookup = [](const std::string& name) -> std::optional<std::int64_t> {
    if (name == "h") return 7;
    if (name == "w") return 0;
    if (name == "n") return kMax;
    return std::nullopt;
  };
  EXPECT_EQ((h * h - floor_div(h, 2) + max(h, w)).evaluate(lookup), 49 - 3 + 7);
  EXPECT_EQ(Dim(4).evaluate(lookup), 4);
  EXPECT_EQ((h + c).evaluate(lookup), std::nullopt);
  EXPECT_EQ(floor_div(h, w).evaluate(lookup), std::nullopt);
  EXPECT_EQ((n + 1).evaluate(lookup), std::nullopt);
  EXPECT_EQ((n * h).evaluate(lookup), std::nullopt);
}

TEST_F(DimTest, OverflowIsLoud) {
  EXPECT_THROW(Dim(kMax) + 1, std::overflow_error);
  EXPECT_THROW(Dim(kMin) - 1, std::overflow_error);
  EXPECT_THROW(-Dim(kMin), std::overflow_error);
  EXPECT_THROW(h * kMax * 2, std::overflow_error);
  EXPECT_THROW(floor_div(Dim(kMin), -1), std::overflow_error);
  EXPECT_EQ(Dim(-1) - Dim(kMin), kMax);
  EXPECT_EQ(provably_less(h + kMin, h + kMax), std::nullopt);  // true, but the difference has no Dim
  EXPECT_EQ(provably_equal(Dim(kMax), Dim(kMin)), false);
}

TEST_F(DimTest, IsItsTerms) {
  const Dim dim = 2 * h * w + floor_div(h, 2) - 5;
  EXPECT_EQ(dim.constant_term(), -5);
  ASSERT_EQ(dim.terms().size(), 2U);
  EXPECT_EQ(dim.terms()[0].coefficient, 2);
  EXPECT_EQ(dim.terms()[0].factors.size(), 2U);
  EXPECT_EQ(dim.terms()[1].factors[0]->kind, detail::Atom::Kind::FloorDiv);
  EXPECT_EQ(Dim::of_terms(dim.constant_term(), {dim.terms()[1], dim.terms()[0]}), dim);
}

TEST_F(DimTest, ShapesHaveAProductAndPerhapsNumbers) {
  EXPECT_EQ(product({}), 1);
  EXPECT_EQ(product({n, 3, h}), 3 * h * n);
  EXPECT_EQ(static_shape({2, 3}), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(static_shape({2, n}), std::nullopt);
}

}  // namespace
}  // namespace pt2onnx
