/* A template: defines absorb_<NAME>, which feeds blocks to LANES Keccak states side by side, compiled for TARGET.

   The 25 words of the state are 25 variables, so that they stay in registers. The new word of column x and row y is put
   where the old one of column x and row x + 2y was; after four rounds every word is back in its variable, so four
   rounds are written out, with the variables permuted, and no word is ever moved.

   The order of operations was measured, not derived: rotations of one plane (a row of the new state) between the
   nonlinear steps of the plane before it, the parity of each column kept up to date, and the planes in this order, were
   fastest on AVX-512 and within 3 % of the fastest elsewhere. */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define WORDS JOIN(words_, NAME)

/* A word of every lane is written as a list: of assignments lane by lane compilers make much worse code. */
#if LANES == 1
typedef uint64_t WORDS;
#define OF_LANES(word) word(0)
#define LANE(v, lane) (v)
#else
typedef uint64_t WORDS __attribute__((vector_size(8 * LANES)));
#define LANE(v, lane) (v)[lane]
#if LANES == 2
#define OF_LANES(word) (WORDS){word(0), word(1)}
#elif LANES == 4
#define OF_LANES(word) (WORDS){word(0), word(1), word(2), word(3)}
#else
#define OF_LANES(word) (WORDS){word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7)}
#endif
#endif
#define STATE_WORD(lane) states[lane][word]
#define BLOCK_WORD(lane) word_at(blocks[lane], at + 8 * word)

#define EACH_OF_17(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16)
#define EACH_OF_25(M) EACH_OF_17(M) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24)

#define ROTATE(v, n) ((v) << (n) | (v) >> (-(n) & 63))

/* Theta, rho and pi for one word: from old word a of column parity d to rotated word x of plane y. */
#define RHO(y, x, a, d, n) WORDS q##y##x = ROTATE(a ^ d, n);
/* Chi for one word of plane y, from three words of the plane; and iota, which is for the first word alone. */
#define CHI(y, x, x1, x2) WORDS e##y##x = q##y##x ^ (~q##y##x1 & q##y##x2); if (y == 0 && x == 0) e##y##x ^= iota;

/* Plane y, whose words were rotated before, between the rotations of plane z. SUM adds to the parity. */
#define PLANES(SUM, y, z, a0, d0, n0, a1, d1, n1, a2, d2, n2, a3, d3, n3, a4, d4, n4) \
    RHO(z, 0, a0, d0, n0) CHI(y, 0, 1, 2) SUM(c0, e##y##0) RHO(z, 1, a1, d1, n1) CHI(y, 1, 2, 3) SUM(c1, e##y##1) \
    RHO(z, 2, a2, d2, n2) CHI(y, 2, 3, 4) SUM(c2, e##y##2) RHO(z, 3, a3, d3, n3) CHI(y, 3, 4, 0) SUM(c3, e##y##3) \
    RHO(z, 4, a4, d4, n4) CHI(y, 4, 0, 1) SUM(c4, e##y##4)
#define SUM_FIRST(c, e) c = e;
#define SUM_NEXT(c, e) c ^= e;

#define ROUND(constant, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, \
              a20, a21, a22, a23, a24) { \
    const uint64_t iota = constant; \
    WORDS d0 = c4 ^ ROTATE(c1, 1), d1 = c0 ^ ROTATE(c2, 1), d2 = c1 ^ ROTATE(c3, 1), d3 = c2 ^ ROTATE(c4, 1), \
          d4 = c3 ^ ROTATE(c0, 1); \
    RHO(4, 0, a2, d2, 62) RHO(4, 1, a8, d3, 55) RHO(4, 2, a14, d4, 39) RHO(4, 3, a15, d0, 41) RHO(4, 4, a21, d1, 2) \
    PLANES(SUM_FIRST, 4, 3, a4, d4, 27, a5, d0, 36, a11, d1, 10, a17, d2, 15, a23, d3, 56) \
    PLANES(SUM_NEXT, 3, 0, a0, d0, 0, a6, d1, 44, a12, d2, 43, a18, d3, 21, a24, d4, 14) \
    PLANES(SUM_NEXT, 0, 2, a1, d1, 1, a7, d2, 6, a13, d3, 25, a19, d4, 8, a20, d0, 18) \
    PLANES(SUM_NEXT, 2, 1, a3, d3, 28, a9, d4, 20, a10, d0, 3, a16, d1, 45, a22, d2, 61) \
    CHI(1, 0, 1, 2) SUM_NEXT(c0, e10) CHI(1, 1, 2, 3) SUM_NEXT(c1, e11) CHI(1, 2, 3, 4) SUM_NEXT(c2, e12) \
    CHI(1, 3, 4, 0) SUM_NEXT(c3, e13) CHI(1, 4, 0, 1) SUM_NEXT(c4, e14) \
    a0 = e00; a6 = e01; a12 = e02; a18 = e03; a24 = e04; a10 = e10; a16 = e11; a22 = e12; a3 = e13; a9 = e14; a20 = \
    e20; a1 = e21; a7 = e22; a13 = e23; a19 = e24; a5 = e30; a11 = e31; a17 = e32; a23 = e33; a4 = e34; a15 = e40; \
    a21 = e41; a2 = e42; a8 = e43; a14 = e44; }

TARGET
void JOIN(absorb_, NAME)(uint64_t *const *states, const uint8_t *const *blocks,
                                 const uintptr_t *ahead, int64_t count)
{
#define GATHER(i) WORDS s##i; { enum { word = i }; s##i = OF_LANES(STATE_WORD); }
#define ABSORB(i) { enum { word = i }; s##i ^= OF_LANES(BLOCK_WORD); }
#define SCATTER(i) for (int lane = 0; lane < LANES; lane++) states[lane][i] = LANE(s##i, lane);
    EACH_OF_25(GATHER)
    for (int64_t at = 0; at < count * RATE; at += RATE) {
        /* What the next turn will encode comes in meanwhile, twice as much as is absorbed. */
        for (int lane = 0; ahead && lane < LANES; lane++)
            for (int line = 0; line < 4; line++) PREFETCH(ahead[lane] + (uintptr_t)(2 * at + 64 * line));
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
#undef OF_LANES
#undef STATE_WORD
#undef BLOCK_WORD
#undef EACH_OF_17
#undef EACH_OF_25
#undef ROTATE
#undef RHO
#undef CHI
#undef PLANES
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
