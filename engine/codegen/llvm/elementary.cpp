// exp, log, tanh and erf of f32 for all lanes at once: exp by a polynomial in f32, the others in
// f64 by series that are good for far more digits than f32 has, and rounded once.
#include <array>
#include <cmath>
#include <span>

#include "engine/codegen/llvm/scalar_code.h"

namespace recut::llvm_ir {
namespace {

constexpr DType kWide = DType::f64;

Code number(double value) { return Writer::real(kWide, value); }
Code whole(std::int64_t value) { return Writer::integer(DType::i64, value); }

// Arithmetic in one type.
struct Sums {
  Writer& w;
  DType type = kWide;
  Code add(const Code& a, const Code& b) { return w.apply("fadd", type, a, b); }
  Code sub(const Code& a, const Code& b) { return w.apply("fsub", type, a, b); }
  Code mul(const Code& a, const Code& b) { return w.apply("fmul", type, a, b); }
  Code div(const Code& a, const Code& b) { return w.apply("fdiv", type, a, b); }
  Code is(const char* how, const Code& a, const Code& b) {
    return w.apply(std::string("fcmp ") + how, DType::boolean, a, b);
  }
  // Horner's rule, from the highest power down.
  Code polynomial(const Code& x, std::span<const double> highest_first) {
    Code sum = Writer::real(type, highest_first.front());
    for (const double next : highest_first.subspan(1))
      sum = add(mul(sum, x), Writer::real(type, next));
    return sum;
  }
};

// e^x for |x| up to 700: 2^n times the series of the rest, |rest| <= log(2)/2, to its 10th power:
// the next term is below 3e-13.
Code wide_exp(Sums& s, const Code& x) {
  static constexpr std::array kSeries{1 / 3628800.0, 1 / 362880.0, 1 / 40320.0, 1 / 5040.0,
                                      1 / 720.0,     1 / 120.0,    1 / 24.0,    1 / 6.0,
                                      0.5,           1.0,          1.0};
  Writer& w = s.w;
  const Code n = w.intrinsic("llvm.roundeven", {s.mul(x, number(1.4426950408889634))});
  const Code rest = s.sub(x, s.mul(n, number(0.6931471805599453)));
  const Code exponent = w.cast("sext", w.cast("fptosi", n, DType::i32), DType::i64);
  const Code bits =
      w.apply("shl", DType::i64, w.apply("add", DType::i64, exponent, whole(1023)), whole(52));
  return s.mul(s.polynomial(rest, kSeries), w.cast("bitcast", bits, kWide));
}

// x, but no further from 0 than what rounds to f32 alike, and 0 for NaN.
Code within(Sums& s, const Code& x, double least, double most) {
  const Code low = Writer::real(s.type, least), high = Writer::real(s.type, most);
  const Code above = s.w.select(s.is("ogt", x, low), x, low);
  const Code inside = s.w.select(s.is("olt", above, high), above, high);
  return s.w.select(s.is("ord", x, x), inside, Writer::real(s.type, 0));
}

// `made` where x is a number, and x where it is NaN, as f32.
Code rounded(Sums& s, const Code& x, const Code& made) {
  return s.w.cast("fptrunc", s.w.select(s.is("uno", x, x), x, made), DType::f32);
}

}  // namespace

// e^x = 2^n (1 + r + r^2 q(r)) with |r| <= log(2)/2: q by Chebyshev's interpolation, off by 0.18
// units in the last place of e^r. log(2) is taken away in two parts, of which n times the first is
// exact (Cody and Waite 1980), and 2^n comes in two factors, so that numbers below the smallest
// normal one are rounded once.
Code exp_code(Writer& w, const Code& x) {
  static constexpr std::array kQ{0.0013926376, 0.00836333308, 0.0416665535, 0.166665761, 0.5};
  Sums s{w, DType::f32};
  const auto f32 = [](double value) { return Writer::real(DType::f32, value); };
  const auto i32 = [](std::int64_t value) { return Writer::integer(DType::i32, value); };
  const Code inside = within(s, x, -104, 89);
  const Code n = w.intrinsic("llvm.roundeven", {s.mul(inside, f32(1.44269504))});
  const Code near = s.sub(inside, s.mul(n, f32(0.693359375)));
  const Code rest = s.add(near, s.mul(n, f32(2.12194440e-4)));
  const Code beyond = s.add(s.mul(s.mul(rest, rest), s.polynomial(rest, kQ)), rest);
  const Code whole = w.cast("fptosi", n, DType::i32);
  const Code half = w.apply("ashr", DType::i32, whole, i32(1));
  const auto power = [&](const Code& exponent) {
    const Code biased = w.apply("add", DType::i32, exponent, i32(127));
    return w.cast("bitcast", w.apply("shl", DType::i32, biased, i32(23)), DType::f32);
  };
  const Code scaled = s.mul(s.add(beyond, f32(1)), power(half));
  const Code made = s.mul(scaled, power(w.apply("sub", DType::i32, whole, half)));
  return w.select(s.is("uno", x, x), x, made);
}

// x = m * 2^e with m from sqrt(1/2) to sqrt(2), and log(m) = 2 artanh((m-1)/(m+1)) by its series.
Code log_code(Writer& w, const Code& x) {
  static constexpr std::array kSeries{2 / 17.0, 2 / 15.0, 2 / 13.0, 2 / 11.0, 2 / 9.0,
                                      2 / 7.0,  2 / 5.0,  2 / 3.0,  2.0};
  Sums s{w};
  const Code wide = w.cast("fpext", x, kWide);
  const Code bits = w.cast("bitcast", wide, DType::i64);
  const Code field =
      w.apply("and", DType::i64, w.apply("lshr", DType::i64, bits, whole(52)), whole(0x7ff));
  const Code fraction = w.apply("and", DType::i64, bits, whole((std::int64_t{1} << 52) - 1));
  const Code one_to_two = w.cast(
      "bitcast", w.apply("or", DType::i64, fraction, whole(std::int64_t{1023} << 52)), kWide);
  const Code large = s.is("ogt", one_to_two, number(1.4142135623730951));
  const Code m = w.select(large, s.mul(one_to_two, number(0.5)), one_to_two);
  const Code exponent = w.cast("trunc", w.apply("sub", DType::i64, field, whole(1023)), DType::i32);
  const Code e0 = w.cast("sitofp", exponent, kWide);
  const Code e = w.select(large, s.add(e0, number(1)), e0);
  const Code ratio = s.div(s.sub(m, number(1)), s.add(m, number(1)));
  const Code series = s.mul(ratio, s.polynomial(s.mul(ratio, ratio), kSeries));
  const Code made = s.add(s.mul(e, number(0.6931471805599453)), series);
  const Code of_zero = w.select(s.is("oeq", wide, number(0)), number(-INFINITY), made);
  const Code of_less = w.select(s.is("olt", wide, number(0)), number(NAN), of_zero);
  return rounded(s, wide, w.select(s.is("oeq", wide, number(INFINITY)), wide, of_less));
}

// 1 - 2 / (e^2a + 1), and near 0, where that cancels, its series; the sign is x's.
Code tanh_code(Writer& w, const Code& x) {
  static constexpr std::array kSeries{-17 / 315.0, 2 / 15.0, -1 / 3.0, 1.0};
  Sums s{w};
  const Code wide = w.cast("fpext", x, kWide);
  const Code size = within(s, w.intrinsic("llvm.fabs", {wide}), 0, 20);
  const Code power = wide_exp(s, s.add(size, size));
  const Code far = s.sub(number(1), s.div(number(2), s.add(power, number(1))));
  const Code near = s.mul(size, s.polynomial(s.mul(size, size), kSeries));
  const Code made = w.select(s.is("olt", size, number(0.0078125)), near, far);
  return rounded(s, wide, w.intrinsic("llvm.copysign", {made, wide}));
}

// Its series below 1; above, 1 - t e^(P(t) - a^2) with t = 1/(1 + a/2), the form of Numerical
// Recipes (6.2) with a polynomial of our own: Chebyshev's interpolation of degree 9 for a from 1 to
// 6, off by 1.1e-12 at most.
Code erf_code(Writer& w, const Code& x) {
  static constexpr std::array kFar{2.2274109028330714e-07, -5.641283351565107e-07,
                                   -4.498436089761527e-06, 1.600776687666894e-05,
                                   9.558992944036505e-05,  -0.00040145918639051815,
                                   -0.0031116984074557766, 0.010174693875142806,
                                   0.2765835893361422,     -0.7274922853220915};
  std::array<double, 15> near_series{};
  double factorial = 1;
  for (int k = 0; k < 15; ++k) {  // 2/sqrt(pi) (-1)^k / (k! (2k + 1))
    if (k > 0) factorial *= -k;
    near_series[static_cast<std::size_t>(14 - k)] = 1.1283791670955126 / (factorial * (2 * k + 1));
  }
  Sums s{w};
  const Code wide = w.cast("fpext", x, kWide);
  const Code size = within(s, w.intrinsic("llvm.fabs", {wide}), 0, 6);
  const Code square = s.mul(size, size);
  const Code near = s.mul(size, s.polynomial(square, near_series));
  const Code t = s.div(number(1), s.add(number(1), s.mul(size, number(0.5))));
  const Code u = s.mul(s.sub(t, number(0.4583333333333333)), number(4.8));
  const Code power = wide_exp(s, s.sub(s.polynomial(u, kFar), square));
  const Code far = s.sub(number(1), s.mul(t, power));
  const Code made = w.select(s.is("olt", size, number(1)), near, far);
  return rounded(s, wide, w.intrinsic("llvm.copysign", {made, wide}));
}

// Ten rounds; words are kept as i64 below 2^32, whose products then need no widening.
Code random_bits_code(Writer& w, const Code& seed, const Code& draw, const Code& element) {
  const auto low = [&](const Code& x) { return w.apply("and", DType::i64, x, whole(0xffffffff)); };
  const auto high = [&](const Code& x) { return w.apply("lshr", DType::i64, x, whole(32)); };
  const auto mix = [&](const Code& a, const Code& b) { return w.apply("xor", DType::i64, a, b); };
  std::array<Code, 4> counter{low(element), high(element), low(draw), high(draw)};
  std::array<Code, 2> key{low(seed), high(seed)};
  for (int round = 0; round < 10; ++round) {
    const Code a = w.apply("mul", DType::i64, counter[0], whole(0xd2511f53));
    const Code b = w.apply("mul", DType::i64, counter[2], whole(0xcd9e8d57));
    counter = {mix(mix(high(b), counter[1]), key[0]), low(b), mix(mix(high(a), counter[3]), key[1]),
               low(a)};
    key = {low(w.apply("add", DType::i64, key[0], whole(0x9e3779b9))),
           low(w.apply("add", DType::i64, key[1], whole(0xbb67ae85)))};
  }
  return w.apply("or", DType::i64, w.apply("shl", DType::i64, counter[0], whole(32)), counter[1]);
}

}  // namespace recut::llvm_ir
