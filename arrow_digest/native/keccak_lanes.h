/* A template: defines absorb_<NAME>, which feeds blocks to LANES Keccak states side by side, compiled for TARGET.

   The 25 words of the state are 25 variables, so that they stay in registers. A round works in place: the five words
   that make a plane of the new state are stored over the five old words they were computed from, column by column.
   That permutes the rows of each column, and after four rounds every word is back in its variable; so four rounds are
   written out, with the variables permuted, and no word is ever moved. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define WORDS JOIN(words_, NAME)

#if LANES == 1
typedef uint64_t WORDS;
#define LANE(v, lane) (v)
#else
typedef uint64_t WORDS __attribute__((vector_size(8 * LANES)));
#define LANE(v, lane) (v)[lane]
#endif

#define EACH_OF_17(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16)
#define EACH_OF_25(M) EACH_OF_17(M) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24)

#define ROTATE(v, n) ((v) << (n) | (v) >> (-(n) & 63))
#define CHI(a, b, c) ((a) ^ (~(b) & (c)))

/* One plane: s0 to s4 are the words it comes from, by column, r0 to r4 their rotations, q0 to q4 the rotated words
   t0 to t4 in the plane's order. c0 to c4 collect the parity of the new columns. */
#define PLANE(SUM, s0, s1, s2, s3, s4, r0, r1, r2, r3, r4, q0, q1, q2, q3, q4) { \
    WORDS t0 = ROTATE(s0 ^ d0, r0), t1 = ROTATE(s1 ^ d1, r1), t2 = ROTATE(s2 ^ d2, r2), t3 = ROTATE(s3 ^ d3, r3), \
          t4 = ROTATE(s4 ^ d4, r4); \
    s0 = CHI(q0, q1, q2); s1 = CHI(q1, q2, q3); s2 = CHI(q2, q3, q4); s3 = CHI(q3, q4, q0); s4 = CHI(q4, q0, q1); \
    SUM }
#define SUM_FIRST(s0, s1, s2, s3, s4) c0 = s0; c1 = s1; c2 = s2; c3 = s3; c4 = s4;
#define SUM_NEXT(s0, s1, s2, s3, s4) c0 ^= s0; c1 ^= s1; c2 ^= s2; c3 ^= s3; c4 ^= s4;

#define ROUND(constant, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, \
              a21, a22, a23, a24) { \
    WORDS d0 = c4 ^ ROTATE(c1, 1), d1 = c0 ^ ROTATE(c2, 1), d2 = c1 ^ ROTATE(c3, 1), d3 = c2 ^ ROTATE(c4, 1), \
          d4 = c3 ^ ROTATE(c0, 1); \
    PLANE(a0 ^= constant; SUM_FIRST(a0, a6, a12, a18, a24), \
          a0, a6, a12, a18, a24, 0, 44, 43, 21, 14, t0, t1, t2, t3, t4) \
    PLANE(SUM_NEXT(a10, a16, a22, a3, a9), a10, a16, a22, a3, a9, 3, 45, 61, 28, 20, t3, t4, t0, t1, t2) \
    PLANE(SUM_NEXT(a20, a1, a7, a13, a19), a20, a1, a7, a13, a19, 18, 1, 6, 25, 8, t1, t2, t3, t4, t0) \
    PLANE(SUM_NEXT(a5, a11, a17, a23, a4), a5, a11, a17, a23, a4, 36, 10, 15, 56, 27, t4, t0, t1, t2, t3) \
    PLANE(SUM_NEXT(a15, a21, a2, a8, a14), a15, a21, a2, a8, a14, 41, 2, 62, 55, 39, t2, t3, t4, t0, t1) }

TARGET
static void JOIN(absorb_, NAME)(uint64_t *const *states, const uint8_t *const *blocks, int64_t count)
{
#define GATHER(i) WORDS s##i = {0}; for (int lane = 0; lane < LANES; lane++) LANE(s##i, lane) = states[lane][i];
#define ABSORB(i) { WORDS v = {0}; for (int lane = 0; lane < LANES; lane++) LANE(v, lane) = word_at(blocks[lane], at + 8 * i); s##i ^= v; }
#define SCATTER(i) for (int lane = 0; lane < LANES; lane++) states[lane][i] = LANE(s##i, lane);
    EACH_OF_25(GATHER)
    for (int64_t at = 0; at < count * RATE; at += RATE) {
        EACH_OF_17(ABSORB)
        WORDS c0 = s0 ^ s5 ^ s10 ^ s15 ^ s20, c1 = s1 ^ s6 ^ s11 ^ s16 ^ s21, c2 = s2 ^ s7 ^ s12 ^ s17 ^ s22,
              c3 = s3 ^ s8 ^ s13 ^ s18 ^ s23, c4 = s4 ^ s9 ^ s14 ^ s19 ^ s24;
        for (int round = 0; round < 24; round += 4) {
            ROUND(ROUND_CONSTANTS[round + 0], s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12,
                  s13, s14, s15, s16, s17, s18, s19, s20, s21, s22, s23, s24)
            ROUND(ROUND_CONSTANTS[round + 1], s0, s6, s12, s18, s24, s10, s16, s22, s3, s9, s20, s1, s7,
                  s13, s19, s5, s11, s17, s23, s4, s15, s21, s2, s8, s14)
            ROUND(ROUND_CONSTANTS[round + 2], s0, s16, s7, s23, s14, s20, s11, s2, s18, s9, s15, s6, s22,
                  s13, s4, s10, s1, s17, s8, s24, s5, s21, s12, s3, s19)
            ROUND(ROUND_CONSTANTS[round + 3], s0, s11, s22, s8, s19, s15, s1, s12, s23, s9, s5, s16, s2,
                  s13, s24, s20, s6, s17, s3, s14, s10, s21, s7, s18, s4)
        }
    }
    EACH_OF_25(SCATTER)
}

#undef WORDS
#undef LANE
#undef EACH_OF_17
#undef EACH_OF_25
#undef ROTATE
#undef CHI
#undef PLANE
#undef SUM_FIRST
#undef SUM_NEXT
#undef ROUND
#undef GATHER
#undef ABSORB
#undef SCATTER
#undef JOIN
#undef JOIN_
#undef NAME
#undef LANES
#undef TARGET
