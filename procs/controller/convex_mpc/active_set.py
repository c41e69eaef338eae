"""Strictly convex QP over stance forces by a dual active set: H, g and a friction cone in; forces out.

    min 1/2 x'Hx + g'x    subject to    normals @ f >= offsets    for the force f of every stance foot

Goldfarb and Idnani, "A numerically stable dual method for solving strictly convex quadratic programs", 1983:
start at the unconstrained minimum, add the most violated row, drop those whose multiplier reaches zero, until
no row is violated. H = U'U is factored once; a row p then costs two triangular solves for its column
d_p = H^-1 n_p. (The explicit H^-1 costs three times the factor, and pays only beyond some twenty rows.)
With N the active normals and L L' = N' H^-1 N, the inverse of L is kept by bordering (add) and rotations
(drop), so that every step is a few matrix-vector products over contiguous rows.
Rows are numbered foot * FACES + face.
"""

import numba as nb
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FACES = 6
SOLVED, ITERATION_LIMIT, NOT_POSITIVE_DEFINITE, INFEASIBLE, NOT_FINITE = range(5)
# Below this share of n'H^-1 n, the part of a normal that is independent of the active ones is rounding.
DEPENDENT = 1e-11
# Doubles per cache line; workspace rows are a whole number of lines.
LINE = 8


def friction_pyramid(friction: float, force_min: float, force_max: float) -> tuple[Array, Array]:
    """normals (6, 3) and offsets (6,): |fx|, |fy| <= friction fz, then force_min <= fz <= force_max [N]."""
    mu = friction
    normals = np.array([[1, 0, mu], [-1, 0, mu], [0, 1, mu], [0, -1, mu], [0, 0, -1.0], [0, 0, 1.0]])
    return normals, np.array([0.0, 0.0, 0.0, 0.0, -force_max, force_min])


@nb.njit(cache=True, error_model="numpy")
def aligned_range(first, n):
    """Columns first..n widened to whole cache lines, which spares the loops over a row their ragged ends.

    The extra columns, below the diagonal or in the padding, hold nothing of meaning and are never read.
    """
    return first - first % LINE, n + (-n) % LINE


@nb.njit(cache=True, error_model="numpy")
def factor_foot(factor, k, n, pivots):
    """Three rows of U, in place, from the remainder of H: rows k, k + 1, k + 2 from column k on.

    False when a pivot is not positive, or not a number.
    """
    first, stop = aligned_range(k, n)
    u0, u1, u2 = factor[k, first:stop], factor[k + 1, first:stop], factor[k + 2, first:stop]
    d0 = factor[k, k]
    p0 = 1.0 / np.sqrt(d0)
    l01, l02 = factor[k, k + 1] * p0, factor[k, k + 2] * p0
    d1 = factor[k + 1, k + 1] - l01 * l01
    p1 = 1.0 / np.sqrt(d1)
    l12 = (factor[k + 1, k + 2] - l01 * l02) * p1
    d2 = factor[k + 2, k + 2] - l02 * l02 - l12 * l12
    p2 = 1.0 / np.sqrt(d2)
    pivots[k], pivots[k + 1], pivots[k + 2] = p0, p1, p2
    for j in range(u0.shape[0]):
        v0 = u0[j] * p0
        v1 = (u1[j] - l01 * v0) * p1
        u0[j], u1[j], u2[j] = v0, v1, (u2[j] - l02 * v0 - l12 * v1) * p2
    return d0 > 0.0 and d1 > 0.0 and d2 > 0.0


@nb.njit(cache=True, error_model="numpy")
def subtract_foot(factor, k, n):
    """Subtract u'u of the rows u = U[k : k + 3] from the remainder, three at a time to reuse loads."""
    for i in range(k + 3, n, 3):
        first, stop = aligned_range(i, n)
        u0, u1, u2 = factor[k, first:stop], factor[k + 1, first:stop], factor[k + 2, first:stop]
        m0, m1, m2 = factor[i, first:stop], factor[i + 1, first:stop], factor[i + 2, first:stop]
        a0, a1, a2 = factor[k, i], factor[k + 1, i], factor[k + 2, i]
        b0, b1, b2 = factor[k, i + 1], factor[k + 1, i + 1], factor[k + 2, i + 1]
        c0, c1, c2 = factor[k, i + 2], factor[k + 1, i + 2], factor[k + 2, i + 2]
        for j in range(u0.shape[0]):
            v0, v1, v2 = u0[j], u1[j], u2[j]
            m0[j] -= a0 * v0 + a1 * v1 + a2 * v2
            m1[j] -= b0 * v0 + b1 * v1 + b2 * v2
            m2[j] -= c0 * v0 + c1 * v1 + c2 * v2


@nb.njit(cache=True, error_model="numpy")
def cholesky(factor, pivots, n):
    """H = U'U in place, one foot (3x3) at a time; False when H is not positive definite.

    The upper triangle of H becomes U and the lower one U', so that both triangular solves read rows; pivots
    becomes 1 / diag U.
    """
    for k in range(0, n, 3):
        if not factor_foot(factor, k, n, pivots):
            return False
        subtract_foot(factor, k, n)
    for i in range(n):
        for j in range(i):
            factor[i, j] = factor[j, i]
    return True


@nb.njit(cache=True, error_model="numpy")
def solve_factored(factor, pivots, first, n, x):
    """x <- H^-1 x in place, for an x that is zero before index `first`, a multiple of three."""
    for k in range(first, n, 3):
        r0, r1, r2 = factor[k, k:n], factor[k + 1, k:n], factor[k + 2, k:n]
        x0 = x[k] * pivots[k]
        x1 = (x[k + 1] - r0[1] * x0) * pivots[k + 1]
        x2 = (x[k + 2] - r0[2] * x0 - r1[2] * x1) * pivots[k + 2]
        x[k], x[k + 1], x[k + 2] = x0, x1, x2
        rest, t0, t1, t2 = x[k + 3 : n], r0[3:], r1[3:], r2[3:]
        for j in range(rest.shape[0]):
            rest[j] -= x0 * t0[j] + x1 * t1[j] + x2 * t2[j]
    for k in range(n - 3, -1, -3):
        r0, r1, r2 = factor[k], factor[k + 1], factor[k + 2]
        x2 = x[k + 2] * pivots[k + 2]
        x1 = (x[k + 1] - r2[k + 1] * x2) * pivots[k + 1]
        x0 = (x[k] - r1[k] * x1 - r2[k] * x2) * pivots[k]
        for j in range(k):
            x[j] -= x0 * r0[j] + x1 * r1[j] + x2 * r2[j]
        x[k], x[k + 1], x[k + 2] = x0, x1, x2


@nb.njit(cache=True, error_model="numpy")
def dot_row(normals, p, x):
    """n_p' x."""
    i, face = 3 * (p // FACES), normals[p % FACES]
    return face[0] * x[i] + face[1] * x[i + 1] + face[2] * x[i + 2]


@nb.njit(cache=True, error_model="numpy")
def new_column(factor, pivots, normals, p, n, d):
    """d = H^-1 n_p."""
    first = 3 * (p // FACES)
    d[:n] = 0.0
    d[first : first + 3] = normals[p % FACES]
    solve_factored(factor, pivots, first, n, d)


@nb.njit(cache=True, error_model="numpy")
def most_violated(normals, offsets, x, num_feet, is_active, tolerance):
    """The row with the most negative slack below -tolerance, and that slack; (-1, 0) when there is none."""
    worst, worst_slack = -1, -tolerance
    for foot in range(num_feet):
        x0, x1, x2 = x[3 * foot], x[3 * foot + 1], x[3 * foot + 2]
        for face in range(FACES):
            slack = normals[face, 0] * x0 + normals[face, 1] * x1 + normals[face, 2] * x2 - offsets[face]
            if slack < worst_slack and not is_active[FACES * foot + face]:
                worst, worst_slack = FACES * foot + face, slack
    return worst, worst_slack


@nb.njit(cache=True, error_model="numpy")
def dual_direction(inverse, normals, active, size, d, y, r):
    """y = L^-1 N'd and r = L'^-1 y; the multipliers move by -r for a unit multiplier of the new row.

    Returns y'y, by which the active rows reduce the curvature d'H d of the new one.
    """
    y[:size] = 0.0
    r[:size] = 0.0
    for j in range(size):
        scale = dot_row(normals, active[j], d)
        column, target = inverse[j, j:size], y[j:size]
        for q in range(target.shape[0]):
            target[q] += scale * column[q]
    reduction = 0.0
    for j in range(size):
        scale = y[j]
        reduction += scale * scale
        for q in range(j + 1):
            r[q] += scale * inverse[j, q]
    return reduction


@nb.njit(cache=True, error_model="numpy")
def border_inverse(inverse, r, curvature, size):
    """L^-1 grown by the row (-r', 1) / sqrt(curvature); the upper triangle mirrors the lower one."""
    scale = 1.0 / np.sqrt(curvature)
    for j in range(size):
        inverse[size, j] = inverse[j, size] = -scale * r[j]
    inverse[size, size] = scale


@nb.njit(cache=True, error_model="numpy")
def shrink_inverse(inverse, position, size):
    """L^-1 without one row and column.

    Rotations of neighbouring rows gather the column of the dropped constraint in the last row, which goes:
    that column is the null vector of L without its row, so what is left is the inverse of the new L.
    """
    for j in range(position, size - 1):
        a, b = inverse[j, position], inverse[j + 1, position]
        radius = np.sqrt(a * a + b * b)
        c, s = b / radius, a / radius
        inverse[j, j + 1] = 0.0
        for q in range(j + 2):
            u, v = inverse[j, q], inverse[j + 1, q]
            inverse[j, q], inverse[j + 1, q] = s * v - c * u, s * u + c * v
        for q in range(position, j + 1):
            inverse[j, q] = inverse[j, q + 1]
    for i in range(size - 1):
        for j in range(max(position, i + 1), size - 1):
            inverse[i, j] = inverse[j, i]


@nb.njit(cache=True, error_model="numpy")
def longest_dual_step(multipliers, r, size):
    """The step at which the first active multiplier reaches zero, and whose; (inf, -1) when none does."""
    step, position = np.inf, -1
    for j in range(size):
        if r[j] > 1e-14 and multipliers[j] < step * r[j]:
            step, position = multipliers[j] / r[j], j
    return step, position


@nb.njit(cache=True, error_model="numpy")
def drop_row(inverse, columns, active, multipliers, position, size, n):
    """Remove one active row; the column of the row being added moves down with the others."""
    shrink_inverse(inverse, position, size)
    for j in range(position, size):
        columns[j, :n] = columns[j + 1, :n]
    for j in range(position, size - 1):
        active[j], multipliers[j] = active[j + 1], multipliers[j + 1]


@nb.njit(cache=True, error_model="numpy")
def move_forces(x, d, columns, r, size, n, step, z):
    """x += step (d - D r), D the columns of the active rows: the direction that keeps these tight."""
    for i in range(n):
        z[i] = d[i]
    for j in range(size):
        scale = r[j]
        for i in range(n):
            z[i] -= scale * columns[j, i]
    for i in range(n):
        x[i] += step * z[i]


@nb.njit(cache=True, error_model="numpy")
def dual_active_set(
    factor, pivots, normals, offsets, n, tolerance, max_iterations,
    x, active, is_active, multipliers, columns, inverse, work,
):  # fmt: skip
    """From x = -H^-1 g to the constrained minimum, in place; returns status, rows added or dropped.

    Of the active rows (numbers in `active`): multipliers, columns H^-1 n_p as rows, and the inverse of L.
    """
    num_feet = n // 3
    y, r, z = work[0], work[1], work[2]
    is_active[: FACES * num_feet] = False
    size = iterations = 0
    while True:
        p, slack = most_violated(normals, offsets, x, num_feet, is_active, tolerance)
        if p < 0:
            return SOLVED, iterations
        new_column(factor, pivots, normals, p, n, columns[size])
        norm, multiplier = dot_row(normals, p, columns[size]), 0.0
        while True:
            if iterations >= max_iterations:
                return ITERATION_LIMIT, iterations
            iterations += 1
            d = columns[size]
            curvature = norm - dual_direction(inverse, normals, active, size, d, y, r)
            dual_step, position = longest_dual_step(multipliers, r, size)
            # n active rows span the space, whatever rounding says.
            independent = size < n and curvature > DEPENDENT * norm
            primal_step = -slack / curvature if independent else np.inf
            step = min(dual_step, primal_step)
            if not step < np.inf:
                return INFEASIBLE, iterations
            if independent:
                move_forces(x, d, columns, r, size, n, step, z)
                slack += step * curvature
            for j in range(size):
                multipliers[j] -= step * r[j]
            multiplier += step
            if primal_step <= dual_step:
                break
            is_active[active[position]] = False
            drop_row(inverse, columns, active, multipliers, position, size, n)
            size -= 1
        border_inverse(inverse, r, curvature, size)
        active[size], multipliers[size], is_active[p] = p, multiplier, True
        size += 1
