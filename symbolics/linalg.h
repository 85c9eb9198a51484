// Factorisations of matrices, which ONNX has no operators for: each is a Loop over the columns (or over pairs of them),
// of any size, for all matrices of a batch at once. `a` is [..., rows, columns].
#pragma once

#include "symbolics/onnx.h"

namespace pt2onnx::linalg {

/// The sizes in front of the last `matrix_dims`.
Shape batch_of(Call& c, Value a, std::size_t matrix_dims = 2);
Dim rows_of(Call& c, Value a);
Dim columns_of(Call& c, Value a);
/// batch + tail
Shape joined(Shape batch, const Shape& tail);
Value transposed(Call& c, Value a);
/// [rows, columns] with ones on the diagonal.
Value identity(Call& c, const Dim& rows, const Dim& columns, DType dtype);
/// Column j, row i: [..., size]; the index is a 0-d value.
Value column(Call& c, Value a, Value j);
Value row(Call& c, Value a, Value i);

/// P a = L U as LAPACK's getrf has it, rows exchanged for the largest pivot.
struct Lu {
  Value factors;      // L without its ones below the diagonal, U on and above
  Value permutation;  // int64 [..., rows]: row i of P a is row permutation[i] of a
  Value pivots;       // int32 [..., min(rows, columns)], counted from 1: exchanged in this order
  Value info;         // int32 [...]: 0, or the place of the first pivot that is 0, counted from 1
};
Lu lu(Call& c, Value a);
/// The permutation that `pivots` (int32, counted from 1) stand for.
Value permutation_of(Call& c, Value pivots, const Dim& rows);
/// Rows in the order of the permutation.
Value permute_rows(Call& c, Value a, Value permutation);
Value inverse_permutation(Call& c, Value permutation);

/// The lower factor, from the lower triangle; NaN where the matrix is not positive definite, then info (int32) says
/// the order of the first minor that is not.
struct Cholesky {
  Value lower, info;
};
Cholesky cholesky(Call& c, Value a);

/// x of a x = b with a triangular; the other triangle is not read. Batch dims broadcast.
Value solve_triangular(Call& c, Value a, Value b, bool upper, bool unit_diagonal);
/// x of a x = b by the factors of a; of the transposed a if `transpose`.
Value solve_lu(Call& c, const Lu& factors, Value b, bool transpose);
Value inverse(Call& c, const Lu& factors);

/// LAPACK's geqrf: reflections 1 - tau v v^T, v below the diagonal of `a`, R on and above it.
struct Qr {
  Value a, tau;
};
Qr qr(Call& c, Value a);
/// Applies the reflections to x: Q x, or Q^T x.
Value apply_reflections(Call& c, const Qr& factors, Value x, bool transpose);

/// Singular value decomposition without the left side: a = (a v / s) s v^T, in no order. One-sided Jacobi rotations.
struct Svd {
  Value scaled;  // a v: orthogonal columns whose lengths are the singular values
  Value right;   // v
  Value values;  // [..., columns], not sorted
};
Svd svd(Call& c, Value a);
/// min(rows, columns) of them, falling.
Value singular_values(Call& c, Value a);

/// Of the symmetric matrix whose lower (or upper) triangle is given, rising.
Value symmetric_eigenvalues(Call& c, Value a, bool lower);
/// The symmetric matrix of which one triangle is given.
Value mirrored(Call& c, Value a, bool lower);

/// Singular values up to the tolerance (of shape [..., 1]) count as 0.
Value pseudo_inverse(Call& c, const Svd& factors, Value tolerance);

inline constexpr double kNuclear = -1000;  // stands for the name of that norm among the orders
/// Of the matrices that two dims hold: order 1, -1, 2, -2, the infinities or kNuclear.
Value matrix_norm(Call& c, Value x, double order, std::int64_t rows, std::int64_t columns, bool keep);

/// The words where vectors are asked for, whose signs no algorithm determines.
inline constexpr const char* kSigns =
    "its vectors are determined only up to their signs, which no other implementation chooses as torch does";

}  // namespace pt2onnx::linalg
