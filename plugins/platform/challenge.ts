/**
 * The platform's challenges: whether yt-dlp's solver scripts (ejs) and a JavaScript runtime solve those of the stored
 * player (`player.js`, `worker_challenge.py`), and which of the two is at fault otherwise.
 */

/** As reported by the worker. */
type Outcome =
  | 'works'
  | 'no_runtime'
  | 'no_solver'
  | 'solver_differs'
  | 'runtime_failed'
  | 'not_solved'
  | 'wrong_answer'
  | 'too_old'

/** The runtime; `untried`: no scripts to run. */
type RuntimeState = 'works' | 'missing' | 'failed' | 'wrong_answer' | 'untried'
/** The scripts; `differs`: another version than this yt-dlp needs; `lost`: failed to read the stored player. */
type SolverState = 'works' | 'missing' | 'differs' | 'lost'

export interface ChallengeReport {
  runtime: { state: RuntimeState; name: string; version: string; milliseconds: number; message: string }
  solver: { state: SolverState; version: string; wanted: string }
  /** Epoch seconds. */
  checked: number
}

const RUNTIME: Record<Outcome, RuntimeState> = {
  works: 'works',
  no_runtime: 'missing',
  no_solver: 'untried',
  solver_differs: 'untried',
  runtime_failed: 'failed',
  not_solved: 'untried',
  wrong_answer: 'wrong_answer',
  too_old: 'untried',
}

const LONGEST_MESSAGE = 400

/** @param told  the worker's answer to `solve` */
export function toChallengeReport(told: Readonly<Record<string, unknown>>, checked: number): ChallengeReport {
  const outcome = told.state as Outcome
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const version = text(told.solver)
  return {
    runtime: {
      state: RUNTIME[outcome],
      name: text(told.runtime),
      version: text(told.version),
      milliseconds: outcome === 'works' ? Number(told.milliseconds) : 0,
      message: inShort(text(told.message)),
    },
    solver: { state: solverState(outcome, version), version, wanted: text(told.wanted) },
    checked,
  }
}

function solverState(outcome: Outcome, version: string): SolverState {
  if (version === '') return 'missing'
  if (outcome === 'solver_differs') return 'differs'
  return outcome === 'not_solved' ? 'lost' : 'works'
}

/** The missing parts, as named in `missing` of the state. */
export const missingIn = ({ runtime, solver }: ChallengeReport): string[] => [
  ...(runtime.state === 'missing' ? ['javascript'] : []),
  ...(solver.state === 'missing' ? ['yt-dlp-ejs'] : []),
]

/** The message of the runtime or the scripts, without yt-dlp's advice and the request. */
const inShort = (message: string): string =>
  message
    .split('\n', 1)[0]!
    .replace(/^\[[\w:]+\] /, '')
    .replace(/[\u0000-\u001f\u007f]+/g, ' ')
    .slice(0, LONGEST_MESSAGE)
