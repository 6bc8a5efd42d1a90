/** Measurements, published through Node's own diagnostics by these names; without a subscriber nothing is timed. */
import { channel as open } from 'node:diagnostics_channel'

/** Identifies the server by its settings: in tests a process may run several. */
interface Told {
  settings: object
  seconds: number
}

export interface AnswerTold extends Told {
  /** '': no route. */
  method: string
  /** The route's pattern, without ids; '': no route. */
  route: string
  status: number
}

export interface QuestionTold extends Told {
  collection: string
  /** Name of the method of `Collection`. */
  operation: string
}

/** Publishes `AnswerTold` for each answered request. */
export const answers = open('archivolt:http.answer')
/** Publishes `QuestionTold` for each read or write of the index. */
export const questions = open('archivolt:index.question')
