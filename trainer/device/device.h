// Where the replicas compute: the processor, or a GPU where LibTorch has one.
#pragma once

#include <string>

namespace longhaul {

enum class Device { kCpu, kCuda };

// `wanted`: auto, cpu or cuda. Throws InputError (path `path`) for cuda without a GPU.
Device choose_device(const std::string& wanted, const std::string& path);
std::string to_string(Device device);

// cuBLAS with the same bits each time, before it is first used; choose_device() does it for a GPU. Throws
// InputError where the environment asks for something else.
void use_repeatable_cublas();

// Ways of the GPU with a plainer one beside them: graphs of a step, cuBLASLt's products, fused attention.
// False for what LONGHAUL_GPU=nograph,nolt,noflash leaves out, where one of them fails on a card. Throws
// InputError where it has another word.
enum class GpuPart { kGraph, kLt, kFlash };
bool uses(GpuPart part);

std::string torch_version();

}  // namespace longhaul
