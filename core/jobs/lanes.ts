/** Lanes where several jobs may be started, but one item at a time is worked on, the jobs taking turns. */

export interface TurnOptions {
  /** Who asks: turns go round between the askers. A job's id, or the name of a service. */
  asker: string
  signal?: AbortSignal | undefined
  /** Enters before the next item of any job: a request that someone waits for. */
  isUrgent?: boolean
  /** Gives up waiting for its turn after so long. @throws unavailable */
  waitMs?: number
}

export interface Lanes {
  /** Waits for the turn in a lane and does one item's work in it. */
  turn<Result>(lane: string, options: TurnOptions, work: () => Promise<Result>): Promise<Result>
}
