/**
 * A test file that imports this takes more than five seconds of processor time, or more than three and a half if other
 * quick files test the same plugin: `make check` leaves it to `make test`.
 */
