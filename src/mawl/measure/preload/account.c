/* One call into the sums and histograms of its thread's shard. */
#include "tap.h"

/* 16 buckets an octave; below 16 every value has its own. */
static inline unsigned bucket(u64 value, unsigned count) {
    if (value < (1u << SUB_BITS)) return (unsigned)value;
    unsigned octave = 63 - (unsigned)__builtin_clzll(value);
    unsigned index = ((octave - SUB_BITS + 1) << SUB_BITS) +
                     (unsigned)((value >> (octave - SUB_BITS)) & ((1u << SUB_BITS) - 1));
    return index < count ? index : count - 1;
}

void tap_account(int place, int kind, int64_t result, u64 bytes, int continues, u64 began) {
    int shard = tap_shard(), class_ = CLASS_OF(place);
    u64 *sums = tap_sums(shard, kind, class_);
    ADD(sums[SUM_CALLS], 1);
    if (UNLIKELY(result < 0)) ADD(sums[SUM_ERRORS], 1);
    else if (bytes) {
        if (!continues) ADD(sums[SUM_SCATTERED_BYTES], bytes);
        ADD(sums[SUM_BYTES], bytes);
        if (VOLUME_OF(place) && kind <= KIND_WRITE) ADD(*tap_volume(shard, VOLUME_OF(place), kind), bytes);
    }
    if (!began) return;
    u64 now = tap_now(), lasted = now - began;
    ADD(sums[SUM_NANOSECONDS], lasted);
    u64 longest = LOAD(sums[SUM_LONGEST]);
    while (UNLIKELY(lasted > longest) &&
           !__atomic_compare_exchange_n(&sums[SUM_LONGEST], &longest, lasted, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    if (kind <= KIND_WRITE && class_ != CLASS_STREAM) {
        u64 *histogram = tap_file + HEADER_WORDS + (size_t)shard * SHARD_WORDS + SUMS_WORDS +
                         ((size_t)class_ * FAMILIES + kind) * HISTOGRAM_WORDS;
        ADD(histogram[bucket(lasted, LATENCY_BUCKETS)], 1);
        if (result >= 0) ADD(histogram[LATENCY_BUCKETS + bucket(bytes, SIZE_BUCKETS)], 1);
    }
    tap_call_ended(class_, kind, lasted, now);
}
