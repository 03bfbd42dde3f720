/*
 * Found before torch's header of this name when a binding is compiled. torch's brings in all of its
 * C++ frontend (modules, optimizers, data loaders), of which the binding uses nothing: parsing it
 * takes two thirds of the CPU time of a binding. Here is what a binding of tensors and pybind11
 * needs, from the same torch's headers. Names of namespace torch are listed one by one, so a
 * source that uses another fails to compile instead of meaning something else.
 */
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>

namespace torch
{
using at::IntArrayRef;
constexpr auto kInt32 = at::kInt;
} // namespace torch
