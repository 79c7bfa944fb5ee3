// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Loads the attention of a real model's layer from .npy files and runs it:
//
//   attention_layer tests/data/minilm_layer0_ 12
//
// reads ..._wq.npy, _wk, _wv and _wo, [outputs, inputs] as PyTorch stores them, the biases _bq,
// _bk, _bv and _bo, and the rows _x.npy, [tokens, d_model]; 12 is the number of heads. The result
// is compared with _attention.npy, the model's own output.

#include <lanewise/layers.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

void Fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

// An f32 array of one or two dimensions.
struct Array {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

// Reads what numpy.save writes for float32 in C order on a little-endian machine: "\x93NUMPY", a
// version, the length of a header, the header (a Python dictionary), the elements. `lanewise run`
// has a reader for everything else.
Array ReadNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.size() < 10 || bytes.compare(0, 7, "\x93NUMPY\x01") != 0) {
    Fail(path + ": expected a NumPy file of version 1");
  }
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  const size_t begin = 10 + byte(8) + 256 * byte(9);
  const std::string header = bytes.substr(10, begin - 10);
  const size_t open = header.find("'shape': (");
  if (header.find("'<f4'") == std::string::npos || header.find("True") != std::string::npos ||
      open == std::string::npos) {
    Fail(path + ": expected float32 in C order, found " + header);
  }
  Array array;
  int64_t count = 1;
  const char* text = header.c_str() + open + 10;
  for (char* end = nullptr; *text != ')' && *text != '\0'; text = *end == ',' ? end + 1 : end) {
    const int64_t size = std::strtoll(text, &end, 10);
    if (end == text) break;
    array.shape.push_back(size);
    count *= size;
  }
  if (array.shape.empty() || array.shape.size() > 2 || count <= 0 ||
      bytes.size() - begin != static_cast<size_t>(count) * sizeof(float)) {
    Fail(path + ": expected one or two dimensions and as many elements, found " + header);
  }
  array.values.resize(static_cast<size_t>(count));
  std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end(),
            reinterpret_cast<char*>(array.values.data()));
  return array;
}

lanewise::ConstTensor Matrix(const Array& array) {
  if (array.shape.size() != 2) Fail("expected a matrix");
  return lanewise::ConstTensor(array.values.data(), {1, 1, array.shape[0], array.shape[1]});
}

lanewise::ArrayView<float> Vector(const Array& array) {
  return {array.values.data(), static_cast<int64_t>(array.values.size())};
}

template <typename T>
const T& Checked(const lanewise::Result<T>& result) {
  if (!result.ok()) Fail(result.status().message());
  return *result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) Fail("usage: attention_layer PREFIX HEADS");
  const std::string prefix = argv[1];
  const auto load = [&](const char* name) { return ReadNpy(prefix + name + ".npy"); };
  const Array wq = load("wq"), wk = load("wk"), wv = load("wv"), wo = load("wo");
  const Array bq = load("bq"), bk = load("bk"), bv = load("bv"), bo = load("bo");
  const Array x = load("x"), expected = load("attention");

  lanewise::MultiHeadWeights weights;
  weights.q = Matrix(wq);
  weights.k = Matrix(wk);
  weights.v = Matrix(wv);
  weights.out = Matrix(wo);
  weights.q_bias = Vector(bq);
  weights.k_bias = Vector(bk);
  weights.v_bias = Vector(bv);
  weights.out_bias = Vector(bo);

  // The layer keeps its own copy of the weights, laid out for products.
  lanewise::MultiHeadShape shape;
  shape.d_model = x.shape.back();
  shape.heads = std::atoi(argv[2]);
  const auto made = lanewise::MakeMultiHeadAttention(shape, weights);
  const lanewise::MultiHeadAttention& layer = Checked(made);

  // One plan for each kind of call; it can run any number of times, on several threads too.
  lanewise::MultiHeadCall call;
  call.queries = x.shape[0];
  const auto planned = layer.Plan(call);
  const lanewise::MultiHeadPlan& plan = Checked(planned);
  lanewise::Workspace workspace(plan.workspace_bytes());

  std::vector<float> out(x.values.size());
  const lanewise::Sizes sizes = {1, 1, x.shape[0], x.shape[1]};
  lanewise::MultiHeadTensors tensors;
  tensors.x = lanewise::ConstTensor(x.values.data(), sizes);
  tensors.out = lanewise::Tensor(out.data(), sizes);
  const lanewise::Status status = plan.Run(tensors, workspace);
  if (!status.ok()) Fail(status.message());

  if (expected.values.size() != out.size()) Fail("attention: expected the shape of x");
  float largest = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const float error = std::fabs(out[i] - expected.values[i]);
    if (!(error <= largest)) largest = error;  // NaN too
  }
  std::printf(
      "%lld tokens, d_model %lld, %lld heads of %lld: largest difference from the model %g\n",
      static_cast<long long>(x.shape[0]), static_cast<long long>(layer.shape().d_model),
      static_cast<long long>(layer.shape().heads), static_cast<long long>(layer.shape().dim),
      static_cast<double>(largest));
  return largest <= 1e-5f ? 0 : 1;
}
