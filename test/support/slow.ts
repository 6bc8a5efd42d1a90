/** A file of tests that imports this takes more than five seconds of a processor: `make check` leaves it to `make test`. */
