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
    const long long v3 = i_1;
    const long long v7 = v3 & 4294967295LL;
    const long long v9 = times(v7, 3528531795LL);
    const long long v11 = shifted_right(v9, 32LL);
    const long long v13 = v11 & 4294967295LL;
    const long long v15 = v13 ^ 0LL;
    const long long v17 = shifted_right(v0, 32LL);
    const long long v19 = v17 & 4294967295LL;
    const long long v20 = v15 ^ v19;
    const long long v22 = times(v20, 3449720151LL);
    const long long v24 = shifted_right(v22, 32LL);
    const long long v26 = v24 & 4294967295LL;
    const long long v28 = v26 ^ 0LL;
    const long long v30 = v0 & 4294967295LL;
    const long long v32 = plus(v30, 2654435769LL);
    const long long v34 = v32 & 4294967295LL;
    const long long v35 = v28 ^ v34;
    const long long v37 = times(v35, 3528531795LL);
    const long long v39 = shifted_right(v37, 32LL);
    const long long v41 = v39 & 4294967295LL;
    const long long v44 = shifted_right(v3, 32LL);
    const long long v46 = v44 & 4294967295LL;
    const long long v47 = 0LL ^ v46;
    const long long v48 = v47 ^ v30;
    const long long v50 = times(v48, 3528531795LL);
    const long long v52 = v50 & 4294967295LL;
    const long long v53 = v41 ^ v52;
    const long long v55 = plus(v19, 3144134277LL);
    const long long v57 = v55 & 4294967295LL;
    const long long v59 = plus(v57, 3144134277LL);
    const long long v61 = v59 & 4294967295LL;
    const long long v62 = v53 ^ v61;
    const long long v64 = times(v62, 3449720151LL);
    const long long v66 = shifted_right(v64, 32LL);
    const long long v68 = v66 & 4294967295LL;
    const long long v70 = shifted_right(v50, 32LL);
    const long long v72 = v70 & 4294967295LL;
    const long long v74 = v9 & 4294967295LL;
    const long long v75 = v72 ^ v74;
    const long long v76 = v75 ^ v57;
    const long long v78 = times(v76, 3449720151LL);
    const long long v80 = v78 & 4294967295LL;
    const long long v81 = v68 ^ v80;
    const long long v83 = plus(v34, 2654435769LL);
    const long long v85 = v83 & 4294967295LL;
    const long long v87 = plus(v85, 2654435769LL);
    const long long v89 = v87 & 4294967295LL;
    const long long v90 = v81 ^ v89;
    const long long v92 = times(v90, 3528531795LL);
    const long long v94 = shifted_right(v92, 32LL);
    const long long v96 = v94 & 4294967295LL;
    const long long v98 = shifted_right(v78, 32LL);
    const long long v100 = v98 & 4294967295LL;
    const long long v102 = v22 & 4294967295LL;
    const long long v103 = v100 ^ v102;
    const long long v104 = v103 ^ v85;
    const long long v106 = times(v104, 3528531795LL);
    const long long v108 = v106 & 4294967295LL;
    const long long v109 = v96 ^ v108;
    const long long v111 = plus(v61, 3144134277LL);
    const long long v113 = v111 & 4294967295LL;
    const long long v115 = plus(v113, 3144134277LL);
    const long long v117 = v115 & 4294967295LL;
    const long long v118 = v109 ^ v117;
    const long long v120 = times(v118, 3449720151LL);
    const long long v122 = shifted_right(v120, 32LL);
    const long long v124 = v122 & 4294967295LL;
    const long long v126 = shifted_right(v106, 32LL);
    const long long v128 = v126 & 4294967295LL;
    const long long v130 = v37 & 4294967295LL;
    const long long v131 = v128 ^ v130;
    const long long v132 = v131 ^ v113;
    const long long v134 = times(v132, 3449720151LL);
    const long long v136 = v134 & 4294967295LL;
    const long long v137 = v124 ^ v136;
    const long long v139 = plus(v89, 2654435769LL);
    const long long v141 = v139 & 4294967295LL;
    const long long v143 = plus(v141, 2654435769LL);
    const long long v145 = v143 & 4294967295LL;
    const long long v146 = v137 ^ v145;
    const long long v148 = times(v146, 3528531795LL);
    const long long v150 = shifted_right(v148, 32LL);
    const long long v152 = v150 & 4294967295LL;
    const long long v154 = shifted_right(v134, 32LL);
    const long long v156 = v154 & 4294967295LL;
    const long long v158 = v64 & 4294967295LL;
    const long long v159 = v156 ^ v158;
    const long long v160 = v159 ^ v141;
    const long long v162 = times(v160, 3528531795LL);
    const long long v164 = v162 & 4294967295LL;
    const long long v165 = v152 ^ v164;
    const long long v167 = plus(v117, 3144134277LL);
    const long long v169 = v167 & 4294967295LL;
    const long long v171 = plus(v169, 3144134277LL);
    const long long v173 = v171 & 4294967295LL;
    const long long v174 = v165 ^ v173;
    const long long v176 = times(v174, 3449720151LL);
    const long long v178 = shifted_right(v176, 32LL);
    const long long v180 = v178 & 4294967295LL;
    const long long v182 = shifted_right(v162, 32LL);
    const long long v184 = v182 & 4294967295LL;
    const long long v186 = v92 & 4294967295LL;
    const long long v187 = v184 ^ v186;
    const long long v188 = v187 ^ v169;
    const long long v190 = times(v188, 3449720151LL);
    const long long v192 = v190 & 4294967295LL;
    const long long v193 = v180 ^ v192;
    const long long v195 = plus(v145, 2654435769LL);
    const long long v197 = v195 & 4294967295LL;
    const long long v199 = plus(v197, 2654435769LL);
    const long long v201 = v199 & 4294967295LL;
    const long long v202 = v193 ^ v201;
    const long long v204 = times(v202, 3528531795LL);
    const long long v206 = shifted_right(v204, 32LL);
    const long long v208 = v206 & 4294967295LL;
    const long long v210 = shifted_right(v190, 32LL);
    const long long v212 = v210 & 4294967295LL;
    const long long v214 = v120 & 4294967295LL;
    const long long v215 = v212 ^ v214;
    const long long v216 = v215 ^ v197;
    const long long v218 = times(v216, 3528531795LL);
    const long long v220 = v218 & 4294967295LL;
    const long long v221 = v208 ^ v220;
    const long long v223 = plus(v173, 3144134277LL);
    const long long v225 = v223 & 4294967295LL;
    const long long v227 = plus(v225, 3144134277LL);
    const long long v229 = v227 & 4294967295LL;
    const long long v230 = v221 ^ v229;
    const long long v232 = times(v230, 3449720151LL);
    const long long v234 = shifted_right(v232, 32LL);
    const long long v236 = v234 & 4294967295LL;
    const long long v238 = shifted_right(v218, 32LL);
    const long long v240 = v238 & 4294967295LL;
    const long long v242 = v148 & 4294967295LL;
    const long long v243 = v240 ^ v242;
    const long long v244 = v243 ^ v225;
    const long long v246 = times(v244, 3449720151LL);
    const long long v248 = v246 & 4294967295LL;
    const long long v249 = v236 ^ v248;
    const long long v251 = plus(v201, 2654435769LL);
    const long long v253 = v251 & 4294967295LL;
    const long long v255 = plus(v253, 2654435769LL);
    const long long v257 = v255 & 4294967295LL;
    const long long v258 = v249 ^ v257;
    const long long v260 = shifted_left(v258, 32LL);
    const long long v262 = v232 & 4294967295LL;
    const long long v4 = v260 | v262;
    const long long v264 = shifted_right(v4, 40LL);
    const long long v266 = v264 & 16777215LL;
    const double v267 = double(v266);
    const double v5 = v267 * 5.960464477539063e-08;
    const float uniform_1 = float(v5);
    uniform_vector.of[lane] = uniform_1;
  }
  *reinterpret_cast<AlignedVector<float, 4>*>(uniform + i) = uniform_vector;
}

