/**
 * A test file that imports this takes twenty seconds or more on two cores: `make test` leaves it to `make test ALL=1`,
 * so that it ends within five minutes.
 */
