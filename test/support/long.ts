/**
 * A test file that imports this takes twenty seconds or more on two cores: `make test` leaves it to `make test ALL=1`,
 * so that it ends within five minutes, and each of its tests may take five minutes instead of one.
 */
import { eachMayTake } from './hanging.ts'

eachMayTake(300)
