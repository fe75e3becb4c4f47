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
    const long long v6 = i_1;
    const long long v7 = v6 & 4294967295LL;
    const long long v15 = v7 & 4294967295LL;
    const long long v17 = times(v15, 3528531795LL);
    const long long v19 = shifted_right(v17, 32LL);
    const long long v21 = v19 & 4294967295LL;
    const long long v23 = v21 ^ 0LL;
    const long long v25 = shifted_right(v0, 32LL);
    const long long v27 = v25 & 4294967295LL;
    const long long v28 = v23 ^ v27;
    const long long v30 = times(v28, 3449720151LL);
    const long long v32 = shifted_right(v30, 32LL);
    const long long v34 = v32 & 4294967295LL;
    const long long v36 = v34 ^ 0LL;
    const long long v38 = v0 & 4294967295LL;
    const long long v40 = plus(v38, 2654435769LL);
    const long long v42 = v40 & 4294967295LL;
    const long long v43 = v36 ^ v42;
    const long long v45 = times(v43, 3528531795LL);
    const long long v47 = shifted_right(v45, 32LL);
    const long long v49 = v47 & 4294967295LL;
    const long long v52 = shifted_right(v7, 32LL);
    const long long v54 = v52 & 4294967295LL;
    const long long v55 = 0LL ^ v54;
    const long long v56 = v55 ^ v38;
    const long long v58 = times(v56, 3528531795LL);
    const long long v60 = v58 & 4294967295LL;
    const long long v61 = v49 ^ v60;
    const long long v63 = plus(v27, 3144134277LL);
    const long long v65 = v63 & 4294967295LL;
    const long long v67 = plus(v65, 3144134277LL);
    const long long v69 = v67 & 4294967295LL;
    const long long v70 = v61 ^ v69;
    const long long v72 = times(v70, 3449720151LL);
    const long long v74 = shifted_right(v72, 32LL);
    const long long v76 = v74 & 4294967295LL;
    const long long v78 = shifted_right(v58, 32LL);
    const long long v80 = v78 & 4294967295LL;
    const long long v82 = v17 & 4294967295LL;
    const long long v83 = v80 ^ v82;
    const long long v84 = v83 ^ v65;
    const long long v86 = times(v84, 3449720151LL);
    const long long v88 = v86 & 4294967295LL;
    const long long v89 = v76 ^ v88;
    const long long v91 = plus(v42, 2654435769LL);
    const long long v93 = v91 & 4294967295LL;
    const long long v95 = plus(v93, 2654435769LL);
    const long long v97 = v95 & 4294967295LL;
    const long long v98 = v89 ^ v97;
    const long long v100 = times(v98, 3528531795LL);
    const long long v102 = shifted_right(v100, 32LL);
    const long long v104 = v102 & 4294967295LL;
    const long long v106 = shifted_right(v86, 32LL);
    const long long v108 = v106 & 4294967295LL;
    const long long v110 = v30 & 4294967295LL;
    const long long v111 = v108 ^ v110;
    const long long v112 = v111 ^ v93;
    const long long v114 = times(v112, 3528531795LL);
    const long long v116 = v114 & 4294967295LL;
    const long long v117 = v104 ^ v116;
    const long long v119 = plus(v69, 3144134277LL);
    const long long v121 = v119 & 4294967295LL;
    const long long v123 = plus(v121, 3144134277LL);
    const long long v125 = v123 & 4294967295LL;
    const long long v126 = v117 ^ v125;
    const long long v128 = times(v126, 3449720151LL);
    const long long v130 = shifted_right(v128, 32LL);
    const long long v132 = v130 & 4294967295LL;
    const long long v134 = shifted_right(v114, 32LL);
    const long long v136 = v134 & 4294967295LL;
    const long long v138 = v45 & 4294967295LL;
    const long long v139 = v136 ^ v138;
    const long long v140 = v139 ^ v121;
    const long long v142 = times(v140, 3449720151LL);
    const long long v144 = v142 & 4294967295LL;
    const long long v145 = v132 ^ v144;
    const long long v147 = plus(v97, 2654435769LL);
    const long long v149 = v147 & 4294967295LL;
    const long long v151 = plus(v149, 2654435769LL);
    const long long v153 = v151 & 4294967295LL;
    const long long v154 = v145 ^ v153;
    const long long v156 = times(v154, 3528531795LL);
    const long long v158 = shifted_right(v156, 32LL);
    const long long v160 = v158 & 4294967295LL;
    const long long v162 = shifted_right(v142, 32LL);
    const long long v164 = v162 & 4294967295LL;
    const long long v166 = v72 & 4294967295LL;
    const long long v167 = v164 ^ v166;
    const long long v168 = v167 ^ v149;
    const long long v170 = times(v168, 3528531795LL);
    const long long v172 = v170 & 4294967295LL;
    const long long v173 = v160 ^ v172;
    const long long v175 = plus(v125, 3144134277LL);
    const long long v177 = v175 & 4294967295LL;
    const long long v179 = plus(v177, 3144134277LL);
    const long long v181 = v179 & 4294967295LL;
    const long long v182 = v173 ^ v181;
    const long long v184 = times(v182, 3449720151LL);
    const long long v186 = shifted_right(v184, 32LL);
    const long long v188 = v186 & 4294967295LL;
    const long long v190 = shifted_right(v170, 32LL);
    const long long v192 = v190 & 4294967295LL;
    const long long v194 = v100 & 4294967295LL;
    const long long v195 = v192 ^ v194;
    const long long v196 = v195 ^ v177;
    const long long v198 = times(v196, 3449720151LL);
    const long long v200 = v198 & 4294967295LL;
    const long long v201 = v188 ^ v200;
    const long long v203 = plus(v153, 2654435769LL);
    const long long v205 = v203 & 4294967295LL;
    const long long v207 = plus(v205, 2654435769LL);
    const long long v209 = v207 & 4294967295LL;
    const long long v210 = v201 ^ v209;
    const long long v212 = times(v210, 3528531795LL);
    const long long v214 = shifted_right(v212, 32LL);
    const long long v216 = v214 & 4294967295LL;
    const long long v218 = shifted_right(v198, 32LL);
    const long long v220 = v218 & 4294967295LL;
    const long long v222 = v128 & 4294967295LL;
    const long long v223 = v220 ^ v222;
    const long long v224 = v223 ^ v205;
    const long long v226 = times(v224, 3528531795LL);
    const long long v228 = v226 & 4294967295LL;
    const long long v229 = v216 ^ v228;
    const long long v231 = plus(v181, 3144134277LL);
    const long long v233 = v231 & 4294967295LL;
    const long long v235 = plus(v233, 3144134277LL);
    const long long v237 = v235 & 4294967295LL;
    const long long v238 = v229 ^ v237;
    const long long v240 = times(v238, 3449720151LL);
    const long long v242 = shifted_right(v240, 32LL);
    const long long v244 = v242 & 4294967295LL;
    const long long v246 = shifted_right(v226, 32LL);
    const long long v248 = v246 & 4294967295LL;
    const long long v250 = v156 & 4294967295LL;
    const long long v251 = v248 ^ v250;
    const long long v252 = v251 ^ v233;
    const long long v254 = times(v252, 3449720151LL);
    const long long v256 = v254 & 4294967295LL;
    const long long v257 = v244 ^ v256;
    const long long v259 = plus(v209, 2654435769LL);
    const long long v261 = v259 & 4294967295LL;
    const long long v263 = plus(v261, 2654435769LL);
    const long long v265 = v263 & 4294967295LL;
    const long long v266 = v257 ^ v265;
    const long long v268 = shifted_left(v266, 32LL);
    const long long v270 = v240 & 4294967295LL;
    const long long v8 = v268 | v270;
    const long long v9 = shifted_right(v8, 32LL);
    const long long v10 = shifted_right(v9, 63LL);
    const long long v11 = v9 ^ v10;
    const double v12 = double(v11);
    const float v13 = float(v12);
    const float uniform_1 = v13 * 4.6566126e-10f;
    uniform_vector.of[lane] = uniform_1;
  }
  *reinterpret_cast<AlignedVector<float, 4>*>(uniform + i) = uniform_vector;
}

