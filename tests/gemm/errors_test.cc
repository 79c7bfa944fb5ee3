// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Everything that can be wrong with a product names what it is; nothing is written then.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/gemm/gemm_case.h"
#include "tests/support/mentions.h"

namespace lanewise::testing {
namespace {

GemmShape Shape() {
  GemmShape shape;
  shape.rows = 5;
  shape.columns = 7;
  shape.depth = 3;
  return shape;
}

Runtime OneThread() {
  Runtime runtime;
  runtime.threads = 1;
  return runtime;
}

Status PlanStatus(const GemmShape& shape, const GemmOptions& options = {},
                  const gemm::PlanOverrides& overrides = {}) {
  return gemm::PlanGemmWith(shape, options, OneThread(), overrides).status();
}

TEST(GemmErrorsTest, Shapes) {
  const std::pair<const char*, int64_t GemmShape::*> sizes[] = {{"batch", &GemmShape::batch},
                                                                {"heads", &GemmShape::heads},
                                                                {"rows", &GemmShape::rows},
                                                                {"columns", &GemmShape::columns},
                                                                {"depth", &GemmShape::depth}};
  for (const auto& [name, size] : sizes) {
    GemmShape shape = Shape();
    shape.*size = -1;
    EXPECT_THAT(PlanStatus(shape), IsInvalid({name, "1", "0"}));
  }
  GemmShape shape = Shape();
  shape.rows = shape.depth = int64_t{1} << 32;
  EXPECT_THAT(PlanStatus(shape), IsInvalid({"a", "4294967296"}));
  shape = Shape();
  shape.columns = shape.depth = int64_t{1} << 32;
  EXPECT_THAT(PlanStatus(shape), IsInvalid({"b", "4294967296"}));
  shape = Shape();
  shape.columns = shape.rows = int64_t{1} << 32;
  EXPECT_THAT(PlanStatus(shape), IsInvalid({"c", "4294967296"}));
}

TEST(GemmErrorsTest, TypesAndFactors) {
  const std::pair<const char*, DataType GemmShape::*> types[] = {{"a_type", &GemmShape::a_type},
                                                                 {"b_type", &GemmShape::b_type},
                                                                 {"c_type", &GemmShape::c_type}};
  for (const auto& [name, type] : types) {
    GemmShape shape = Shape();
    shape.*type = DataType::kBool;
    EXPECT_THAT(PlanStatus(shape), IsInvalid({name, "bool", "f32"}));
  }
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    GemmOptions options;
    options.alpha = bad;
    EXPECT_THAT(PlanStatus(Shape(), options), IsInvalid({"alpha", "finite"}));
    options = {};
    options.beta = -bad;
    EXPECT_THAT(PlanStatus(Shape(), options), IsInvalid({"beta", "finite"}));
  }
}

TEST(GemmErrorsTest, Runtimes) {
  Runtime runtime = OneThread();
  runtime.threads = -1;
  EXPECT_THAT(PlanGemm(Shape(), {}, runtime).status(), IsInvalid({"threads", "1"}));
  runtime = OneThread();
  runtime.target = "AVX99";
  EXPECT_EQ(PlanGemm(Shape(), {}, runtime).status().code(), StatusCode::kInvalidArgument);
}

TEST(GemmErrorsTest, Overrides) {
  gemm::PlanOverrides overrides;
  overrides.variant = "columns";
  EXPECT_THAT(PlanStatus(Shape(), {}, overrides), IsInvalid({"variant", "columns", "blocks"}));
  overrides = {};
  overrides.tile = "1x99v";
  EXPECT_THAT(PlanStatus(Shape(), {}, overrides), IsInvalid({"tile", "1x99v"}));
  GemmOptions options;
  options.transpose_b = true;
  overrides = {};
  overrides.variant = "rows";
  EXPECT_THAT(PlanStatus(Shape(), options, overrides), IsInvalid({"variant", "rows"}));
  overrides.variant = "dots";
  EXPECT_TRUE(PlanStatus(Shape(), options, overrides).ok());
  EXPECT_THAT(PlanStatus(Shape(), {}, overrides), IsInvalid({"variant", "dots"}));
  options.packed_b = true;
  EXPECT_THAT(PlanStatus(Shape(), options, overrides), IsInvalid({"variant", "dots", "packed"}));
  overrides.variant = "rows";
  EXPECT_TRUE(PlanStatus(Shape(), options, overrides).ok());
  overrides = {};
  overrides.variant = "rows";
  overrides.row_block = 5;
  EXPECT_THAT(PlanStatus(Shape(), {}, overrides), IsInvalid({"row_block", "5", "4"}));
  const std::pair<const char*, int64_t gemm::PlanOverrides::*> blocks[] = {
      {"row_block", &gemm::PlanOverrides::row_block},
      {"depth_block", &gemm::PlanOverrides::depth_block},
      {"column_block", &gemm::PlanOverrides::column_block}};
  for (const auto& [name, block] : blocks) {
    overrides = {};
    overrides.*block = -2;
    EXPECT_THAT(PlanStatus(Shape(), {}, overrides), IsInvalid({name, "2"}));
  }
}

// A call whose tensors `change` spoils: an error with these words, and C as it was.
template <typename Change>
void ExpectRunFails(const GemmOptions& options, const std::vector<std::string>& words,
                    const Change& change) {
  const GemmCase c = {Shape(), options};
  GemmArrays arrays(c);
  const Result<GemmPlan> plan = PlanGemm(c.shape, options, OneThread());
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  Workspace workspace(plan->workspace_bytes());
  GemmTensors tensors = arrays.tensors();
  const std::vector<float> before = arrays.c().Values();
  change(tensors, workspace);
  EXPECT_THAT(plan->Run(tensors, workspace), IsInvalid(words));
  const std::vector<float> after = arrays.c().Values();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(IsUnwritten(after[i])) << i;
}

TEST(GemmErrorsTest, Arrays) {
  GemmOptions all;
  all.bias = all.residual = true;
  using T = GemmTensors;
  using W = Workspace;
  ExpectRunFails({}, {"a", "null"}, [](T& t, W&) { t.a.data = nullptr; });
  ExpectRunFails({}, {"b", "null"}, [](T& t, W&) { t.b.data = nullptr; });
  ExpectRunFails({}, {"c", "null"}, [](T& t, W&) { t.c.data = nullptr; });
  ExpectRunFails({}, {"a", "sizes", "4"}, [](T& t, W&) { t.a.sizes[2] = 4; });
  ExpectRunFails({}, {"b", "type", "f16"}, [](T& t, W&) { t.b.type = DataType::kF16; });
  ExpectRunFails({}, {"b", "stride", "2"}, [](T& t, W&) { t.b.strides[3] = 2; });
  ExpectRunFails({}, {"c", "strides"}, [](T& t, W&) { t.c.strides[2] = 0; });
  ExpectRunFails({}, {"c", "a"}, [](T& t, W&) { t.a.data = t.c.data; });
  ExpectRunFails({}, {"c", "b"}, [](T& t, W&) { t.b.data = t.c.data; });
  ExpectRunFails({}, {"workspace", "0"}, [](T&, W& w) { w = Workspace(); });
  ExpectRunFails(all, {"bias", "6", "7"}, [](T& t, W&) { t.bias.size = 6; });
  ExpectRunFails(all, {"bias", "null"}, [](T& t, W&) { t.bias.data = nullptr; });
  ExpectRunFails(all, {"residual", "null"}, [](T& t, W&) { t.residual.data = nullptr; });
  ExpectRunFails(all, {"c", "residual"}, [](T& t, W&) {
    t.residual = t.c;
    t.residual.strides[1] = 99;
  });
  ExpectRunFails(all, {"c", "bias"},
                 [](T& t, W&) { t.bias.data = static_cast<const float*>(t.c.data); });
  ExpectRunFails({}, {"bias", "option"}, [](T& t, W&) {
    t.bias = {static_cast<const float*>(t.a.data), 7};
  });
  ExpectRunFails({}, {"residual", "option"}, [](T& t, W&) { t.residual = t.c; });
}

TEST(GemmErrorsTest, PackedMatrices) {
  GemmOptions options;
  options.packed_b = true;
  const std::vector<float> b = Gen(2, 10 * 10);
  const auto pack = [&](const Sizes& sizes, bool transpose_b = false) {
    Result<PackedMatrix> packed = PackB(ConstTensor(b.data(), sizes), transpose_b, OneThread());
    EXPECT_TRUE(packed.ok()) << packed.status().message();
    return std::move(*packed);
  };
  const PackedMatrix empty;
  const PackedMatrix shallow = pack({1, 1, 2, 7});
  const PackedMatrix wide = pack({1, 1, 8, 3}, true);
  const PackedMatrix many = pack({2, 1, 3, 7});
  const PackedMatrix right = pack({1, 1, 3, 7});
  Result<PackedMatrix> made =
      PackB(ConstTensor(b.data(), DataType::kF16, Sizes{1, 1, 3, 7}), false, OneThread());
  ASSERT_TRUE(made.ok());
  const PackedMatrix halves = std::move(*made);
  EXPECT_GE(right.size_bytes(), 3 * 7 * sizeof(float));
  EXPECT_EQ(halves.size_bytes(), right.size_bytes() / 2);
  EXPECT_EQ(empty.size_bytes(), 0U);
  using T = GemmTensors;
  const auto with = [](const PackedMatrix* packed) {
    return [packed](T& t, Workspace&) {
      t.b = {};
      t.packed_b = packed;
    };
  };
  ExpectRunFails(options, {"packed_b", "null"}, with(nullptr));
  ExpectRunFails(options, {"packed_b", "empty"}, with(&empty));
  ExpectRunFails(options, {"packed_b", "f16", "f32"}, with(&halves));
  ExpectRunFails(options, {"packed_b", "depth", "2", "3"}, with(&shallow));
  ExpectRunFails(options, {"packed_b", "columns", "8", "7"}, with(&wide));
  ExpectRunFails(options, {"packed_b", "batch", "2"}, with(&many));
  ExpectRunFails(options, {"b", "packed_b"}, [&](T& t, Workspace&) { t.packed_b = &right; });
  ExpectRunFails({}, {"packed_b", "option"}, [&](T& t, Workspace&) { t.packed_b = &right; });
  if (AvailableTargets().size() > 1) {
    Runtime other = OneThread();
    other.target = AvailableTargets().back();
    const Result<PackedMatrix> foreign =
        PackB(ConstTensor(b.data(), Sizes{1, 1, 3, 7}), false, other);
    ASSERT_TRUE(foreign.ok());
    ExpectRunFails(options, {"packed_b", "target", other.target}, with(&*foreign));
  }
}

TEST(GemmErrorsTest, PackB) {
  const std::vector<float> b = Gen(2, 100);
  const ConstTensor good(b.data(), Sizes{1, 1, 5, 7});
  ConstTensor bad = good;
  bad.data = nullptr;
  EXPECT_THAT(PackB(bad, false, OneThread()).status(), IsInvalid({"b", "null"}));
  bad = good;
  bad.sizes[2] = -5;
  EXPECT_THAT(PackB(bad, false, OneThread()).status(), IsInvalid({"b", "5"}));
  bad = good;
  bad.type = DataType::kBool;
  EXPECT_THAT(PackB(bad, false, OneThread()).status(), IsInvalid({"b", "bool"}));
  bad = good;
  bad.strides[3] = 3;
  EXPECT_THAT(PackB(bad, false, OneThread()).status(), IsInvalid({"b", "stride", "3"}));
  Runtime runtime = OneThread();
  runtime.threads = -4;
  EXPECT_THAT(PackB(good, false, runtime).status(), IsInvalid({"threads", "4"}));
}

// What an explanation says.
TEST(GemmPlanTest, Explains) {
  const auto explain = [](int64_t rows, const GemmOptions& options = {}) {
    GemmShape shape = Shape();
    shape.rows = rows;
    return PlanGemm(shape, options, OneThread())->Explain();
  };
  EXPECT_EQ(explain(1).variant, "rows");
  EXPECT_EQ(explain(5).variant, "panels");
  EXPECT_EQ(explain(1 << 20).variant, "blocks");
  GemmOptions options;
  options.transpose_b = true;
  EXPECT_EQ(explain(1, options).variant, "dots");
  options.packed_b = true;
  EXPECT_EQ(explain(1, options).variant, "rows");
  EXPECT_EQ(explain(5, options).variant, "panels");
  const GemmExplanation explanation = explain(1 << 20);
  EXPECT_FALSE(explanation.tile.empty());
  EXPECT_EQ(explanation.threads, 1);
  EXPECT_GT(explanation.workspace_bytes, 0);
  EXPECT_FALSE(explanation.reasons.empty());
  for (const auto& source : explanation.sources) {
    const bool forced = source.parameter == "threads" && DefaultRuntime().threads != 1;
    EXPECT_EQ(source.source, forced ? "override" : "default") << source.parameter;
  }
  for (const char* word : {"blocks", "row_block", "depth_block", "column_block", "workspace"}) {
    EXPECT_NE(explanation.ToString().find(word), std::string::npos) << word;
  }
  gemm::PlanOverrides overrides;
  overrides.depth_block = 5;
  EXPECT_EQ(gemm::PlanGemmWith(Shape(), {}, OneThread(), overrides)->Explain().sources[3].source,
            "override");
}

}  // namespace
}  // namespace lanewise::testing
