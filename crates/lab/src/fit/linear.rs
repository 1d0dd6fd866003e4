//! Linear least squares of a few unknowns.

/// A matrix by its columns.
pub(super) type Matrix = Vec<Vec<f64>>;

/// The `x` for which `columns x` is nearest to `goal`, in weighted squares. Each unknown is held back by `damping` times its
/// own square; one whose column is zero stays at 0.
pub(super) fn least_squares(columns: &Matrix, goal: &[f64], weights: &[f64], damping: f64) -> Vec<f64> {
    let product =
        |a: &[f64], b: &[f64]| a.iter().zip(b).zip(weights).map(|((a, b), weight)| a * b * weight).sum::<f64>();
    let n = columns.len();
    // The normal equations, the goal as the last column.
    let mut rows: Matrix = columns
        .iter()
        .map(|row| columns.iter().map(Vec::as_slice).chain([goal]).map(|column| product(row, column)).collect())
        .collect();
    for (at, row) in rows.iter_mut().enumerate() {
        row[at] += damping * row[at] + f64::MIN_POSITIVE.sqrt();
    }
    // Elimination with the largest pivots; the matrix is positive definite.
    for at in 0..n {
        let pivot = (at..n).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs())).expect("it is not empty");
        rows.swap(at, pivot);
        let pivot = rows[at].clone();
        for row in &mut rows[at + 1..] {
            let factor = row[at] / pivot[at];
            row.iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    let mut x = vec![0.0; n];
    for at in (0..n).rev() {
        let known: f64 = (at + 1..n).map(|other| rows[at][other] * x[other]).sum();
        x[at] = (rows[at][n] - known) / rows[at][at];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_solves_what_can_be_solved() {
        // 2 x + y = 5, x - y = 1, and a third equation that weighs nothing.
        let columns = vec![vec![2.0, 1.0, 7.0], vec![1.0, -1.0, 7.0]];
        let x = least_squares(&columns, &[5.0, 1.0, 100.0], &[1.0, 1.0, 0.0], 0.0);
        assert!((x[0] - 2.0).abs() < 1e-9 && (x[1] - 1.0).abs() < 1e-9, "{x:?}");
    }

    #[test]
    fn unknown_without_effect_stays_where_it_is() {
        let columns = vec![vec![2.0, 0.0], vec![0.0, 0.0]];
        assert_eq!(least_squares(&columns, &[4.0, 1.0], &[1.0, 1.0], 0.0), [2.0, 0.0]);
    }
}
