/**
 * What can be measured from outside, by Node's own diagnostics: any code of the process may subscribe by these names.
 * As long as nobody does, nothing is timed.
 */
import { channel as open } from 'node:diagnostics_channel'

/** Which server tells: its settings. A process may hold several, in tests. */
interface Told {
  settings: object
  seconds: number
}

export interface AnswerTold extends Told {
  /** '': no route. */
  method: string
  /** As routes are written, without ids; '': no route. */
  route: string
  status: number
}

export interface QuestionTold extends Told {
  collection: string
  /** Name of the method of `Collection`. */
  operation: string
}

/** A request was answered: `AnswerTold`. */
export const answers = open('archivolt:http.answer')
/** The index was asked or written: `QuestionTold`. */
export const questions = open('archivolt:index.question')
