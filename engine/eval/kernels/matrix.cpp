// Matrix products.
#include <cmath>

#include "engine/eval/kernels/elementwise.h"
#include "engine/eval/kernels/gemm.h"

namespace recut {
namespace {

// Integers are multiplied exactly, as integers; everything else in double.
bool in_integers(const KernelContext& c) { return !is_floating(c.output_types[0].dtype); }

double scale(double factor, double x) { return factor * x; }
Complex scale(Complex factor, Complex x) { return elementwise::times(factor, x); }
std::int64_t scale(std::int64_t factor, std::int64_t x) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(factor) *
                                   static_cast<std::uint64_t>(x));
}
double sum(double a, double b) { return a + b; }
Complex sum(Complex a, Complex b) { return a + b; }
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

template <class T>
T attribute(const KernelContext& c, std::string_view parameter) {
  const Scalar s = c.call.scalar(parameter);
  if constexpr (std::is_same_v<T, std::int64_t>)
    return s.integer;
  else
    return T(s.real);
}

// beta * self + alpha * product. Where beta is 0, self counts for nothing, even where it is NaN.
template <class T>
Dense<T> plus_self(const KernelContext& c, Dense<T> product) {
  const T alpha = attribute<T>(c, "alpha");
  const T beta = attribute<T>(c, "beta");
  for (T& x : product.data) x = scale(alpha, x);
  if (beta == T{}) return product;
  const Dense<T> self = elementwise::broadcast_to(c.read<T>("self"), product.shape);
  for (std::int64_t i = 0; i < product.count(); ++i)
    product[i] = sum(scale(beta, self[i]), product[i]);
  return product;
}

template <class T>
Dense<T> reshaped(Dense<T> a, Shape shape) {
  a.shape = std::move(shape);
  return a;
}

// All dimensions but the last as one.
template <class T>
Dense<T> as_rows(Dense<T> a) {
  const std::int64_t last = a.shape.back();
  const std::int64_t rows = element_count(Shape(a.shape.begin(), a.shape.end() - 1));
  return reshaped(std::move(a), {rows, last});
}

template <class T>
Dense<T> sum_of_batch(const Dense<T>& a) {
  Dense<T> out(Shape(a.shape.begin() + 1, a.shape.end()));
  for (std::int64_t i = 0; i < a.count(); ++i)
    out[i % out.count()] = sum(out[i % out.count()], a[i]);
  return out;
}

struct Mm {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return matmul(c.read<T>("self"), c.read<T>("mat2"));
  }
};

struct Matmul {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return matmul(c.read<T>("self"), c.read<T>("other"));
  }
};

struct Addmm {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return plus_self(c, matmul(c.read<T>("mat1"), c.read<T>("mat2")));
  }
};

struct AddmmActivation {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    Dense<T> out = Addmm::run<T>(c);
    const bool gelu = c.call.boolean("use_gelu");
    for (T& x : out.data) {
      if (gelu) {
        const auto real = static_cast<double>(x);
        x = static_cast<T>(0.5 * real * (1 + std::erf(real * std::sqrt(0.5))));
      } else if (x < T{}) {
        x = T{};
      }
    }
    return out;
  }
};

struct Baddbmm {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return plus_self(c, matmul(c.read<T>("batch1"), c.read<T>("batch2")));
  }
};

struct Addbmm {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return plus_self(c, sum_of_batch(matmul(c.read<T>("batch1"), c.read<T>("batch2"))));
  }
};

struct Mv {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return matmul(c.read<T>("self"), c.read<T>("vec"));
  }
};

struct Addmv {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return plus_self(c, matmul(c.read<T>("mat"), c.read<T>("vec")));
  }
};

template <class T>
Dense<T> outer_product(Dense<T> a, Dense<T> b) {
  const std::int64_t n = a.count();
  const std::int64_t m = b.count();
  return matmul(reshaped(std::move(a), {n, 1}), reshaped(std::move(b), {1, m}));
}

struct Addr {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return plus_self(c, outer_product(c.read<T>("vec1"), c.read<T>("vec2")));
  }
};

struct Outer {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return outer_product(c.read<T>("self"), c.read<T>("vec2"));
  }
};

struct Dot {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    return matmul(c.read<T>("self"), c.read<T>(c.call.op().parameters[1].name));
  }
};

// The dot product whose first operand is conjugated.
struct ConjugatedDot {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    Complexes self = c.complexes("self");
    for (Complex& x : self.data) x = std::conj(x);
    return matmul(self, c.complexes("other"));
  }
};

struct Inner {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    Dense<T> a = c.read<T>("self");
    Dense<T> b = c.read<T>("other");
    const Shape& shape = c.output_types[0].shape;
    if (a.rank() > 0 && b.rank() > 0)
      return reshaped(matmul(as_rows(std::move(a)), transposed(as_rows(std::move(b)))), shape);
    // A number times everything.
    const bool left = a.rank() == 0;
    const T factor = left ? a[0] : b[0];
    Dense<T> out = std::move(left ? b : a);
    for (T& x : out.data) x = scale(factor, x);
    return out;
  }
};

struct Linear {
  template <class T>
  static Dense<T> run(const KernelContext& c) {
    const Shape& shape = c.output_types[0].shape;
    Dense<T> out = reshaped(
        matmul(as_rows(c.read<T>("input")), transposed(as_rows(c.read<T>("weight")))), shape);
    if (!c.call.is_tensor("bias")) return out;
    const Dense<T> bias = elementwise::broadcast_to(c.read<T>("bias"), shape);
    for (std::int64_t i = 0; i < out.count(); ++i) out[i] = sum(out[i], bias[i]);
    return out;
  }
};

template <class Body>
Result<Done> matrix_kernel(KernelContext& c) {
  if (in_integers(c))
    c.write(Body::template run<std::int64_t>(c));
  else
    c.write(Body::template run<double>(c));
  return Done{};
}

template <class Body>
Result<Done> complex_matrix_kernel(KernelContext& c) {
  c.write(Body::template run<Complex>(c));
  return Done{};
}

template <class Body>
void add_product(KernelTable& table, Op op) {
  table.add(op, matrix_kernel<Body>);
  table.add_complex(op, complex_matrix_kernel<Body>);
}

}  // namespace

void add_matrix_kernels(KernelTable& t) {
  for (const Op op : {Op::mm, Op::bmm}) add_product<Mm>(t, op);
  t.add(Op::_int_mm, matrix_kernel<Mm>);
  add_product<Matmul>(t, Op::matmul);
  add_product<Addmm>(t, Op::addmm);
  t.add(Op::_addmm_activation, matrix_kernel<AddmmActivation>);
  add_product<Baddbmm>(t, Op::baddbmm);
  add_product<Addbmm>(t, Op::addbmm);
  add_product<Mv>(t, Op::mv);
  add_product<Addmv>(t, Op::addmv);
  add_product<Addr>(t, Op::addr);
  for (const Op op : {Op::outer, Op::ger}) add_product<Outer>(t, op);
  add_product<Dot>(t, Op::dot);
  t.add(Op::vdot, matrix_kernel<Dot>);
  t.add_complex(Op::vdot, complex_matrix_kernel<ConjugatedDot>);
  add_product<Inner>(t, Op::inner);
  add_product<Linear>(t, Op::linear);
}

}  // namespace recut
