/* SPDX-License-Identifier: BSD-3-Clause */
/* Addition and multiplication of IEEE 754 binary32 and binary64 in integers, rounding to nearest even, with subnormals,
 * bit for bit as processors do them; which NaN comes out may differ. For eBPF code, which has no floating-point
 * instructions. A number is its bits in the low end of a 64-bit word.
 *
 * Magnitudes carry three bits more than the mantissa: two and a sticky one, that is the union of all below, are what
 * rounding needs (Muller et al., Handbook of Floating-Point Arithmetic, 2nd edition, 7.3 and 7.4). */
#ifndef URAKATA_IEEE_H
#define URAKATA_IEEE_H

#include <linux/types.h>

#define URA_IEEE static inline __attribute__((always_inline))
/* A function of its own in eBPF code, so that the kernel follows its branches once and not at each call; weak, since
 * files that are attached together all have it. */
#if defined(__bpf__)
#define URA_IEEE_APART __attribute__((noinline, weak))
#else
#define URA_IEEE_APART URA_IEEE
#endif

struct ura_ieee {
  unsigned fraction; /* bits of the mantissa that are stored: 23, 52 */
  unsigned top;      /* the exponent with all bits set: 255, 2047 */
};
static const struct ura_ieee ura_binary32 = {23, 255};
static const struct ura_ieee ura_binary64 = {52, 2047};

URA_IEEE __u64 ura_one(unsigned bit) { return (__u64)1 << (bit & 63); }
URA_IEEE unsigned ura_sign_bit(struct ura_ieee f) { return f.fraction == 23 ? 31 : 63; }
URA_IEEE __u64 ura_infinity(struct ura_ieee f) { return (__u64)f.top << f.fraction; }
URA_IEEE __u64 ura_magnitude(struct ura_ieee f, __u64 a) { return a & (ura_one(ura_sign_bit(f)) - 1); }
URA_IEEE __u64 ura_quiet_nan(struct ura_ieee f) {
  return ura_one(ura_sign_bit(f)) | ura_infinity(f) | ura_one(f.fraction - 1);
}
URA_IEEE int ura_is_nan(struct ura_ieee f, __u64 a) { return ura_magnitude(f, a) > ura_infinity(f); }

/* To the right by any number of bits; what falls out stays as the lowest bit. */
URA_IEEE_APART __u64 ura_shift_sticky(__u64 m, unsigned by) {
  if (by > 63) return m != 0;
  return by == 0 ? m : m >> (by & 63) | ((m & (ura_one(by) - 1)) != 0);
}

/* Shifts to the left that bring the highest bit that is set to `bit`; m is neither 0 nor larger. */
URA_IEEE_APART unsigned ura_room_above(__u64 m, unsigned bit) {
  unsigned room = 0;
  m <<= (63 - bit) & 63;
  if (m >> 32 == 0) room += 32, m <<= 32;
  if (m >> 48 == 0) room += 16, m <<= 16;
  if (m >> 56 == 0) room += 8, m <<= 8;
  if (m >> 60 == 0) room += 4, m <<= 4;
  if (m >> 62 == 0) room += 2, m <<= 2;
  if (m >> 63 == 0) room += 1;
  return room;
}

/* The number with this sign, exponent of 1 or more and magnitude, whose highest bit is fraction + 3, or lower where the
 * exponent is 1. */
URA_IEEE __u64 ura_rounded(struct ura_ieee f, __u64 sign, __s64 exponent, __u64 m) {
  const unsigned rest = m & 7;
  __u64 bits = m >> 3;
  if (rest > 4 || (rest == 4 && (bits & 1))) ++bits;
  bits += (__u64)(exponent - 1) << f.fraction; /* a carry goes into the exponent, where it belongs */
  return sign | (bits >= ura_infinity(f) ? ura_infinity(f) : bits);
}

URA_IEEE __u64 ura_add(struct ura_ieee f, __u64 a, __u64 b) {
  if (ura_is_nan(f, a)) return a | ura_one(f.fraction - 1);
  if (ura_is_nan(f, b)) return b | ura_one(f.fraction - 1);
  if (ura_magnitude(f, a) < ura_magnitude(f, b)) {
    const __u64 larger = b;
    b = a;
    a = larger;
  }
  const __u64 sign = a & ura_one(ura_sign_bit(f));
  const int differ = (a ^ b) >> ura_sign_bit(f) & 1;
  if (ura_magnitude(f, a) == ura_infinity(f)) {
    return differ && ura_magnitude(f, b) == ura_infinity(f) ? ura_quiet_nan(f) : a;
  }
  const __u64 mask = ura_one(f.fraction) - 1;
  unsigned ea = (unsigned)(ura_magnitude(f, a) >> f.fraction), eb = (unsigned)(ura_magnitude(f, b) >> f.fraction);
  __u64 ma = a & mask, mb = b & mask;
  if (ea != 0) {
    ma |= mask + 1;
  } else {
    ea = 1;
  }
  if (eb != 0) {
    mb |= mask + 1;
  } else {
    eb = 1;
  }
  ma <<= 3;
  mb = ura_shift_sticky(mb << 3, ea - eb);
  if (!differ) {
    __u64 sum = ma + mb;
    if (sum >> (f.fraction + 4)) {
      sum = sum >> 1 | (sum & 1);
      ++ea;
    }
    return ura_rounded(f, sign, ea, sum);
  }
  __u64 rest = ma - mb;
  if (rest == 0) return 0;
  unsigned shift = ura_room_above(rest, f.fraction + 3);
  if (shift > ea - 1) shift = ea - 1;
  return ura_rounded(f, sign, ea - shift, rest << (shift & 63));
}

URA_IEEE __u64 ura_mul(struct ura_ieee f, __u64 a, __u64 b) {
  if (ura_is_nan(f, a)) return a | ura_one(f.fraction - 1);
  if (ura_is_nan(f, b)) return b | ura_one(f.fraction - 1);
  const __u64 sign = (a ^ b) & ura_one(ura_sign_bit(f));
  a = ura_magnitude(f, a);
  b = ura_magnitude(f, b);
  if (a == ura_infinity(f) || b == ura_infinity(f)) return a == 0 || b == 0 ? ura_quiet_nan(f) : sign | ura_infinity(f);
  if (a == 0 || b == 0) return sign;
  const __u64 mask = ura_one(f.fraction) - 1;
  __s64 ea = (__s64)(a >> f.fraction), eb = (__s64)(b >> f.fraction);
  __u64 ma = a & mask, mb = b & mask;
  if (ea != 0) {
    ma |= mask + 1;
  } else {
    const unsigned shift = ura_room_above(ma, f.fraction);
    ma <<= shift & 63;
    ea = 1 - (__s64)shift;
  }
  if (eb != 0) {
    mb |= mask + 1;
  } else {
    const unsigned shift = ura_room_above(mb, f.fraction);
    mb <<= shift & 63;
    eb = 1 - (__s64)shift;
  }
  __s64 exponent = ea + eb - (f.top >> 1);
  /* The product in 128 bits from halves; then its upper fraction + 4 or + 5 bits. */
  const __u64 low = 0xffffffff;
  const __u64 ll = (ma & low) * (mb & low), lh = (ma & low) * (mb >> 32), hl = (ma >> 32) * (mb & low);
  const __u64 middle = (ll >> 32) + (lh & low) + (hl & low);
  const __u64 upper = (ma >> 32) * (mb >> 32) + (lh >> 32) + (hl >> 32) + (middle >> 32);
  const __u64 lower = middle << 32 | (ll & low);
  const unsigned cut = f.fraction - 3;
  __u64 m = (cut < 32 ? 0 : upper << (64 - cut)) | lower >> cut | ((lower & (ura_one(cut) - 1)) != 0);
  if (m >> (f.fraction + 4)) {
    m = m >> 1 | (m & 1);
    ++exponent;
  }
  if (exponent < 1) {
    m = ura_shift_sticky(m, exponent < -62 ? 64 : (unsigned)(1 - exponent));
    exponent = 1;
  }
  return ura_rounded(f, sign, exponent, m);
}

/* a < b; false where one is NaN. */
URA_IEEE int ura_less(struct ura_ieee f, __u64 a, __u64 b) {
  if (ura_is_nan(f, a) || ura_is_nan(f, b)) return 0;
  const __u64 ma = ura_magnitude(f, a), mb = ura_magnitude(f, b);
  if (ma == 0 && mb == 0) return 0;
  const int below_a = a >> ura_sign_bit(f) & 1, below_b = b >> ura_sign_bit(f) & 1;
  if (below_a != below_b) return below_a;
  return below_a ? mb < ma : ma < mb;
}

#endif
