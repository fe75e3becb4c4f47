// Contiguous elements that are loaded and stored by one instruction.
template <class T, int count>
struct alignas(sizeof(T) * count) AlignedVector {
  T of[count];
};

// Integers wrap around.
__device__ inline int plus(int a, int b) { return int(unsigned(a) + unsigned(b)); }
__device__ inline long long plus(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}

__device__ inline int times(int a, int b) { return int(unsigned(a) * unsigned(b)); }
__device__ inline long long times(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}

// 0 where b is negative or too large.
__device__ inline int shifted_left(int a, int b) {
  return unsigned(b) < 32u ? int(unsigned(a) << b) : 0;
}
__device__ inline long long shifted_left(long long a, long long b) {
  return (unsigned long long)b < 64u ? (long long)((unsigned long long)a << b) : 0;
}

__device__ inline int shifted_right(int a, int b) { return a >> (unsigned(b) < 32u ? b : 31); }
__device__ inline long long shifted_right(long long a, long long b) {
  return a >> ((unsigned long long)b < 64u ? b : 63);
}

// kernel uniform
// %uniform = prims.inductor_random
// kernel 4 of 9, launch 4
// 128 items, 4 consecutive items per thread
extern "C" __global__ void __launch_bounds__(32) kernel_0_0(
    const long long* __restrict__ seed_1,
    float* __restrict__ uniform,
    long long seed, long long* fault) {
  const long long v0 = seed_1[0];
  const int item = blockIdx.x * 32 + threadIdx.x;
  const int i = 4 * item;
  AlignedVector<float, 4> uniform_vector;
  #pragma unroll
  for (int lane = 0; lane < 4; ++lane) {
    const int i_1 = i + lane;
    const long long v5 = i_1;
    const long long v13 = v5 & 4294967295LL;
    const long long v15 = times(v13, 3528531795LL);
    const long long v17 = shifted_right(v15, 32LL);
    const long long v19 = v17 & 4294967295LL;
    const long long v21 = v19 ^ 0LL;
    const long long v23 = shifted_right(v0, 32LL);
    const long long v25 = v23 & 4294967295LL;
    const long long v26 = v21 ^ v25;
    const long long v28 = times(v26, 3449720151LL);
    const long long v30 = shifted_right(v28, 32LL);
    const long long v32 = v30 & 4294967295LL;
    const long long v34 = v32 ^ 0LL;
    const long long v36 = v0 & 4294967295LL;
    const long long v38 = plus(v36, 2654435769LL);
    const long long v40 = v38 & 4294967295LL;
    const long long v41 = v34 ^ v40;
    const long long v43 = times(v41, 3528531795LL);
    const long long v45 = shifted_right(v43, 32LL);
    const long long v47 = v45 & 4294967295LL;
    const long long v50 = shifted_right(v5, 32LL);
    const long long v52 = v50 & 4294967295LL;
    const long long v53 = 0LL ^ v52;
    const long long v54 = v53 ^ v36;
    const long long v56 = times(v54, 3528531795LL);
    const long long v58 = v56 & 4294967295LL;
    const long long v59 = v47 ^ v58;
    const long long v61 = plus(v25, 3144134277LL);
    const long long v63 = v61 & 4294967295LL;
    const long long v65 = plus(v63, 3144134277LL);
    const long long v67 = v65 & 4294967295LL;
    const long long v68 = v59 ^ v67;
    const long long v70 = times(v68, 3449720151LL);
    const long long v72 = shifted_right(v70, 32LL);
    const long long v74 = v72 & 4294967295LL;
    const long long v76 = shifted_right(v56, 32LL);
    const long long v78 = v76 & 4294967295LL;
    const long long v80 = v15 & 4294967295LL;
    const long long v81 = v78 ^ v80;
    const long long v82 = v81 ^ v63;
    const long long v84 = times(v82, 3449720151LL);
    const long long v86 = v84 & 4294967295LL;
    const long long v87 = v74 ^ v86;
    const long long v89 = plus(v40, 2654435769LL);
    const long long v91 = v89 & 4294967295LL;
    const long long v93 = plus(v91, 2654435769LL);
    const long long v95 = v93 & 4294967295LL;
    const long long v96 = v87 ^ v95;
    const long long v98 = times(v96, 3528531795LL);
    const long long v100 = shifted_right(v98, 32LL);
    const long long v102 = v100 & 4294967295LL;
    const long long v104 = shifted_right(v84, 32LL);
    const long long v106 = v104 & 4294967295LL;
    const long long v108 = v28 & 4294967295LL;
    const long long v109 = v106 ^ v108;
    const long long v110 = v109 ^ v91;
    const long long v112 = times(v110, 3528531795LL);
    const long long v114 = v112 & 4294967295LL;
    const long long v115 = v102 ^ v114;
    const long long v117 = plus(v67, 3144134277LL);
    const long long v119 = v117 & 4294967295LL;
    const long long v121 = plus(v119, 3144134277LL);
    const long long v123 = v121 & 4294967295LL;
    const long long v124 = v115 ^ v123;
    const long long v126 = times(v124, 3449720151LL);
    const long long v128 = shifted_right(v126, 32LL);
    const long long v130 = v128 & 4294967295LL;
    const long long v132 = shifted_right(v112, 32LL);
    const long long v134 = v132 & 4294967295LL;
    const long long v136 = v43 & 4294967295LL;
    const long long v137 = v134 ^ v136;
    const long long v138 = v137 ^ v119;
    const long long v140 = times(v138, 3449720151LL);
    const long long v142 = v140 & 4294967295LL;
    const long long v143 = v130 ^ v142;
    const long long v145 = plus(v95, 2654435769LL);
    const long long v147 = v145 & 4294967295LL;
    const long long v149 = plus(v147, 2654435769LL);
    const long long v151 = v149 & 4294967295LL;
    const long long v152 = v143 ^ v151;
    const long long v154 = times(v152, 3528531795LL);
    const long long v156 = shifted_right(v154, 32LL);
    const long long v158 = v156 & 4294967295LL;
    const long long v160 = shifted_right(v140, 32LL);
    const long long v162 = v160 & 4294967295LL;
    const long long v164 = v70 & 4294967295LL;
    const long long v165 = v162 ^ v164;
    const long long v166 = v165 ^ v147;
    const long long v168 = times(v166, 3528531795LL);
    const long long v170 = v168 & 4294967295LL;
    const long long v171 = v158 ^ v170;
    const long long v173 = plus(v123, 3144134277LL);
    const long long v175 = v173 & 4294967295LL;
    const long long v177 = plus(v175, 3144134277LL);
    const long long v179 = v177 & 4294967295LL;
    const long long v180 = v171 ^ v179;
    const long long v182 = times(v180, 3449720151LL);
    const long long v184 = shifted_right(v182, 32LL);
    const long long v186 = v184 & 4294967295LL;
    const long long v188 = shifted_right(v168, 32LL);
    const long long v190 = v188 & 4294967295LL;
    const long long v192 = v98 & 4294967295LL;
    const long long v193 = v190 ^ v192;
    const long long v194 = v193 ^ v175;
    const long long v196 = times(v194, 3449720151LL);
    const long long v198 = v196 & 4294967295LL;
    const long long v199 = v186 ^ v198;
    const long long v201 = plus(v151, 2654435769LL);
    const long long v203 = v201 & 4294967295LL;
    const long long v205 = plus(v203, 2654435769LL);
    const long long v207 = v205 & 4294967295LL;
    const long long v208 = v199 ^ v207;
    const long long v210 = times(v208, 3528531795LL);
    const long long v212 = shifted_right(v210, 32LL);
    const long long v214 = v212 & 4294967295LL;
    const long long v216 = shifted_right(v196, 32LL);
    const long long v218 = v216 & 4294967295LL;
    const long long v220 = v126 & 4294967295LL;
    const long long v221 = v218 ^ v220;
    const long long v222 = v221 ^ v203;
    const long long v224 = times(v222, 3528531795LL);
    const long long v226 = v224 & 4294967295LL;
    const long long v227 = v214 ^ v226;
    const long long v229 = plus(v179, 3144134277LL);
    const long long v231 = v229 & 4294967295LL;
    const long long v233 = plus(v231, 3144134277LL);
    const long long v235 = v233 & 4294967295LL;
    const long long v236 = v227 ^ v235;
    const long long v238 = times(v236, 3449720151LL);
    const long long v240 = shifted_right(v238, 32LL);
    const long long v242 = v240 & 4294967295LL;
    const long long v244 = shifted_right(v224, 32LL);
    const long long v246 = v244 & 4294967295LL;
    const long long v248 = v154 & 4294967295LL;
    const long long v249 = v246 ^ v248;
    const long long v250 = v249 ^ v231;
    const long long v252 = times(v250, 3449720151LL);
    const long long v254 = v252 & 4294967295LL;
    const long long v255 = v242 ^ v254;
    const long long v257 = plus(v207, 2654435769LL);
    const long long v259 = v257 & 4294967295LL;
    const long long v261 = plus(v259, 2654435769LL);
    const long long v263 = v261 & 4294967295LL;
    const long long v264 = v255 ^ v263;
    const long long v266 = shifted_left(v264, 32LL);
    const long long v268 = v238 & 4294967295LL;
    const long long v6 = v266 | v268;
    const long long v7 = shifted_right(v6, 32LL);
    const long long v8 = shifted_right(v7, 63LL);
    const long long v9 = v7 ^ v8;
    const double v10 = double(v9);
    const float v11 = float(v10);
    const float uniform_1 = v11 * 4.6566126e-10f;
    uniform_vector.of[lane] = uniform_1;
  }
  *reinterpret_cast<AlignedVector<float, 4>*>(uniform + i) = uniform_vector;
}

