/**
 * A file of tests that imports this takes more than five seconds of a processor, or more than three and a half where
 * other quick files test the same plugin: `make check` leaves it to `make test`.
 */
