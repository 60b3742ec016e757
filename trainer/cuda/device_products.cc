#include "trainer/device/device_products.h"

#include <ATen/ATen.h>
#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "trainer/cuda/device_table.h"

namespace longhaul {
namespace {

constexpr int kCandidates = 8;
constexpr int kTimedRuns = 5;

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw RunError(std::string("cuBLASLt: ") + what + ": " + cublasLtGetStatusString(status));
}

template <typename Handle, cublasStatus_t (*kDestroy)(Handle)>
struct Destroyer {
  using pointer = Handle;
  void operator()(Handle handle) const { kDestroy(handle); }
};
using Library = std::unique_ptr<void, Destroyer<cublasLtHandle_t, cublasLtDestroy>>;
using Description = std::unique_ptr<void, Destroyer<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>>;
using Layout = std::unique_ptr<void, Destroyer<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>>;
using Preference =
    std::unique_ptr<void, Destroyer<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>>;

template <typename Value>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, Value value) {
  check(cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof value),
        "a product's attribute");
}
template <typename Value>
void set(const Layout& layout, cublasLtMatrixLayoutAttribute_t attribute, Value value) {
  check(cublasLtMatrixLayoutSetAttribute(layout.get(), attribute, &value, sizeof value),
        "a matrix's attribute");
}
template <typename Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
        "a preference");
}

// Bytes to which all matrices of a batch are aligned, as far as kernels ask.
std::uint32_t alignment_of(const ColumnMajorProduct::Matrix& matrix, std::int64_t width) {
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(matrix.data) |
                       static_cast<std::uint64_t>(matrix.batch_stride * width) | 256u;
  return static_cast<std::uint32_t>(bits & (~bits + 1));  // the lowest bit
}

struct DeviceMoment {
  cudaEvent_t event = nullptr;
  DeviceMoment() { cudaEventCreate(&event); }
  ~DeviceMoment() { cudaEventDestroy(event); }
  DeviceMoment(const DeviceMoment&) = delete;
  DeviceMoment& operator=(const DeviceMoment&) = delete;
};

// A product's description, which holds no pointer of its matrices.
struct Call {
  Description description;
  Layout left, right, result;

  Call(const ColumnMajorProduct& product, std::int64_t batch, bool result_is_float) {
    cublasLtMatmulDesc_t made = nullptr;
    check(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product's description");
    description.reset(made);
    const auto way = [](const ColumnMajorProduct::Matrix& matrix) {
      return static_cast<std::int32_t>(matrix.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    };
    set(description, CUBLASLT_MATMUL_DESC_TRANSA, way(product.left));
    set(description, CUBLASLT_MATMUL_DESC_TRANSB, way(product.right));
    left = layout(product.left, batch, CUDA_R_16BF);
    right = layout(product.right, batch, CUDA_R_16BF);
    result = layout(product.result, batch, result_is_float ? CUDA_R_32F : CUDA_R_16BF);
  }

  static Layout layout(const ColumnMajorProduct::Matrix& matrix, std::int64_t batch, cudaDataType_t type) {
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(matrix.rows),
                                     static_cast<std::uint64_t>(matrix.columns), matrix.stride),
          "a matrix's layout");
    Layout layout(made);
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_stride);
    return layout;
  }
};

// Numbers whose sums differ in another order: no two alike, of both signs, of several magnitudes.
at::Tensor some_numbers(std::int64_t count, double step) {
  const auto on_card = at::TensorOptions(at::kFloat).device(at::kCUDA);
  const at::Tensor place = at::arange(count, on_card);
  return (at::sin(place * step) * at::exp(at::sin(place * (step * 0.37)))).to(at::kBFloat16);
}

class LtProducts : public DeviceProducts {
 public:
  LtProducts() : workspace_(kProductsWorkspace / sizeof(float)) {
    cublasLtHandle_t made = nullptr;
    check(cublasLtCreate(&made), "it does not start");
    library_.reset(made);
  }

  bool multiply(const BatchedProduct& product, CudaStream stream) override {
    const ColumnMajorProduct columns = by_columns(product);
    auto found = choices_.find(key_of(product, columns));
    if (found == choices_.end())
      found = choices_.emplace(key_of(product, columns), choose(product, columns, stream)).first;
    const Choice& choice = found->second;
    if (!choice.has_kernel) return false;
    run(*choice.call, columns, product.adds, choice.algorithm, stream);
    return true;
  }

 private:
  using Key = std::array<std::int64_t, 17>;
  struct Choice {
    std::unique_ptr<Call> call;
    cublasLtMatmulAlgo_t algorithm{};
    bool has_kernel = false;
  };

  static Key key_of(const BatchedProduct& p, const ColumnMajorProduct& columns) {
    return {p.batch,
            p.m,
            p.n,
            p.k,
            p.a.stride,
            p.a.batch_stride,
            p.a.transposed,
            p.b.stride,
            p.b.batch_stride,
            p.b.transposed,
            p.c_stride,
            p.c_batch_stride,
            p.c_is_float,
            p.adds,
            alignment_of(columns.left, 2),
            alignment_of(columns.right, 2),
            alignment_of(columns.result, p.c_is_float ? 4 : 2)};
  }

  void run(const Call& call, const ColumnMajorProduct& product, bool adds,
           const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream) const {
    const float value = 1, beta = adds ? 1 : 0;
    void* result = const_cast<void*>(product.result.data);
    check(cublasLtMatmul(library_.get(), call.description.get(), &value, product.left.data, call.left.get(),
                         product.right.data, call.right.get(), &beta, result, call.result.get(), result,
                         call.result.get(), &algorithm, workspace_.get(), kProductsWorkspace, stream),
          "a product was not started");
  }

  Choice choose(const BatchedProduct& product, const ColumnMajorProduct& columns, cudaStream_t stream) const {
    Choice choice;
    choice.call = std::make_unique<Call>(columns, product.batch, product.c_is_float);
    const std::vector<cublasLtMatmulAlgo_t> candidates =
        recommended(*choice.call, columns, product.c_is_float);
    if (candidates.empty()) return choice;
    choice.has_kernel = true;
    choice.algorithm = candidates.front();
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    cudaStreamIsCapturing(stream, &capturing);
    if (candidates.size() > 1 && capturing == cudaStreamCaptureStatusNone) try {
        choice.algorithm = fastest(product, columns, *choice.call, candidates, stream);
      } catch (
          const std::exception&) {  // no memory to try others in, or the first does not run on made numbers
        cudaGetLastError();         // else the next launch reports it
      }
    return choice;
  }

  std::vector<cublasLtMatmulAlgo_t> recommended(const Call& call, const ColumnMajorProduct& product,
                                                bool result_is_float) const {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "a preference");
    const Preference preference(made);
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kProductsWorkspace));
    // Sums of parts in float32 too.
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    const std::uint32_t result = alignment_of(product.result, result_is_float ? 4 : 2);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(product.left, 2));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(product.right, 2));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, result);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, result);
    std::array<cublasLtMatmulHeuristicResult_t, kCandidates> results{};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library_.get(), call.description.get(), call.left.get(), call.right.get(), call.result.get(),
        call.result.get(), preference.get(), kCandidates, results.data(), &count);
    std::vector<cublasLtMatmulAlgo_t> candidates;
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return candidates;
    check(status, "it recommends nothing");
    for (int i = 0; i < count; ++i)
      if (results[static_cast<std::size_t>(i)].state == CUBLAS_STATUS_SUCCESS)
        candidates.push_back(results[static_cast<std::size_t>(i)].algo);
    return candidates;
  }

  // Of the candidates that leave the bits of the first.
  cublasLtMatmulAlgo_t fastest(const BatchedProduct& product, const ColumnMajorProduct& columns,
                               const Call& call, const std::vector<cublasLtMatmulAlgo_t>& candidates,
                               cudaStream_t stream) const {
    const std::vector<cublasLtMatmulAlgo_t> alike = with_the_first_bits(product, candidates, stream);
    // What is added to must not be added to twice: then the time of products into memory of their own counts.
    BatchedProduct timed = product;
    at::Tensor room;
    if (product.adds) {
      room = at::zeros({product.batch * product.m * product.n}, result_options(product));
      timed.c = room.data_ptr();
      timed.c_stride = product.n;
      timed.c_batch_stride = product.m * product.n;
    }
    const ColumnMajorProduct timed_columns = product.adds ? by_columns(timed) : columns;
    const Call other(timed_columns, product.batch, product.c_is_float);
    const Call& timed_call = product.adds ? other : call;
    std::size_t best = 0;
    float least = 0;
    for (std::size_t i = 0; i < alike.size(); ++i) {
      const float time =
          seconds([&] { run(timed_call, timed_columns, product.adds, alike[i], stream); }, stream);
      if (i == 0 || time < least) best = i, least = time;
    }
    return alike[best];
  }

  // A batch of as many, which a kernel shares out over the card as it does the real ones: all of one matrix
  // of numbers made for it.
  std::vector<cublasLtMatmulAlgo_t> with_the_first_bits(const BatchedProduct& product,
                                                        const std::vector<cublasLtMatmulAlgo_t>& candidates,
                                                        cudaStream_t stream) const {
    const at::Tensor a = some_numbers(product.m * product.k, 0.7321),
                     b = some_numbers(product.k * product.n, 1.113);
    BatchedProduct batched_product = product;
    batched_product.adds = false;
    const auto dense = [](ProductOperand& operand, const at::Tensor& numbers, std::int64_t rows,
                          std::int64_t columns) {
      operand.data = numbers.data_ptr();
      operand.stride = operand.transposed ? rows : columns;
      operand.batch_stride = 0;
    };
    dense(batched_product.a, a, product.m, product.k);
    dense(batched_product.b, b, product.k, product.n);
    batched_product.c_stride = product.n;
    batched_product.c_batch_stride = product.m * product.n;
    const auto bits = [&](const cublasLtMatmulAlgo_t& algorithm) {
      const at::Tensor result = at::zeros({product.batch * product.m * product.n}, result_options(product));
      batched_product.c = result.data_ptr();
      const ColumnMajorProduct columns = by_columns(batched_product);
      run(Call(columns, product.batch, product.c_is_float), columns, false, algorithm, stream);
      return result.view(product.c_is_float ? at::kInt : at::kShort);
    };
    const at::Tensor expected = bits(candidates.front());
    std::vector<cublasLtMatmulAlgo_t> alike = {candidates.front()};
    for (std::size_t i = 1; i < candidates.size(); ++i) try {
        if (at::equal(bits(candidates[i]), expected)) alike.push_back(candidates[i]);
      } catch (const RunError&) {  // not for rows without gaps
      }
    return alike;
  }

  static at::TensorOptions result_options(const BatchedProduct& product) {
    return at::TensorOptions(product.c_is_float ? at::kFloat : at::kBFloat16).device(at::kCUDA);
  }

  template <typename Work>
  static float seconds(const Work& work, cudaStream_t stream) {
    const DeviceMoment begin, end;
    work();
    cudaEventRecord(begin.event, stream);
    for (int i = 0; i < kTimedRuns; ++i) work();
    cudaEventRecord(end.event, stream);
    cudaEventSynchronize(end.event);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin.event, end.event);
    return milliseconds / 1000 / kTimedRuns;
  }

  Library library_;
  DeviceTable<float> workspace_;
  std::map<Key, Choice> choices_;
};

}  // namespace

std::unique_ptr<DeviceProducts> make_device_products() {
  return std::make_unique<LtProducts>();
}

}  // namespace longhaul
