/*
 * The part of the C++ standard library that device code names, for NVRTC, which has none: CUDA's own
 * libcu++ (cuda/std), under the names of std. Every stand-in beside this file includes it.
 */
#pragma once
/* libcu++ has no public <cuda/std/algorithm> yet; these two headers are the same from 12.6 to 12.9. */
#include <cuda/std/__algorithm/max.h>
#include <cuda/std/__algorithm/min.h>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/cassert>
#include <cuda/std/cfloat>
#include <cuda/std/climits>
#include <cuda/std/cmath>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/functional>
#include <cuda/std/initializer_list>
#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

namespace std {
using namespace cuda::std;

/* A template of its own, since torch's headers specialise it. */
template <class T> class numeric_limits : public cuda::std::numeric_limits<T> {};

/* Declarations of host code name it. */
struct ostream {
	template <class T> ostream &operator<<(const T &) { return *this; }
};
} // namespace std

using cuda::std::int16_t;
using cuda::std::int32_t;
using cuda::std::int64_t;
using cuda::std::int8_t;
using cuda::std::intptr_t;
using cuda::std::ptrdiff_t;
using cuda::std::uint16_t;
using cuda::std::uint32_t;
using cuda::std::uint64_t;
using cuda::std::uint8_t;
using cuda::std::uintptr_t;

/* A builtin of host compilers that torch's headers call. */
static inline int __builtin_clz(unsigned x) { return __clz(static_cast<int>(x)); }

/* Macros of <cfloat> and <cmath> (C11 5.2.4.2.2, POSIX math.h), which libcu++ leaves to the host's. */
#ifndef FLT_MIN
#define FLT_MIN 1.17549435e-38f
#define FLT_MAX 3.40282347e+38f
#define FLT_EPSILON 1.19209290e-7f
#define FLT_MANT_DIG 24
#define FLT_MAX_EXP 128
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MANT_DIG 53
#define DBL_MAX_EXP 1024
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_LOG2E 1.44269504088896340736
#endif
