/**
 * Tests a build of yt-dlp before it is used: it must load, solve the stored player, and be offered archived videos in
 * the same quality as before. A failure that the current build has too does not count against the new one.
 */
import { type Clock, type Log, say, sentenceOf, type Words } from 'archivolt'
import { ChildError, type ChildRequest, withChild } from './child.ts'
import { classify } from './classify.ts'
import { FAILURES } from './failure-classes.ts'
import { PLATFORM } from './name.ts'
import type { Build, Tools } from './tools.ts'
import type { Canary } from './types.ts'

/** `unclear`: no failure, but not enough evidence. Reasons are for people. */
export type Verdict = { is: 'good' } | { is: 'bad' | 'unclear'; reason: Words }

const FILMS = 3
const FETCHED_BYTES = 1 << 20
const QUIET_MS = 120_000
const GOOD: Verdict = { is: 'good' }

interface CanaryParts {
  tools: Tools
  clock: Clock
  log: Log
  /** Archived videos for the test, more than needed, because some may be gone. */
  films: () => Promise<Canary[]>
  /** Runs work in a turn of the platform's lane. */
  inTurn: <Result>(work: () => Promise<Result>, signal: AbortSignal) => Promise<Result>
}

/** The result of requesting a video. */
type Answer = { offered: number } | { failure: 'gone' | 'refused' | 'failed'; message: string }

export async function tryBuild(build: Build, parts: CanaryParts, signal: AbortSignal): Promise<Verdict> {
  const { tools } = parts
  try {
    await tools.probe(build)
  } catch (error) {
    if (!(error instanceof ChildError)) throw error
    return { is: 'bad', reason: say`it does not run on this machine (${{ message: error.message.slice(0, 200) }})` }
  }
  const [challenge, before] = [await tools.solve(build), await tools.solve(tools.updated)]
  if (challenge?.runtime.state !== 'works' && before?.runtime.state === 'works')
    return { is: 'bad', reason: say`it fails to solve a challenge that the current version solves` }
  return tryFilms(build, parts, signal)
}

async function tryFilms(build: Build, parts: CanaryParts, signal: AbortSignal): Promise<Verdict> {
  const films = await parts.films()
  let passed = 0
  let last: Words = ''
  for (const film of films) {
    const isFirst = passed === 0
    const answer = await ask(build, film, isFirst, parts, signal)
    if ('offered' in answer && answer.offered >= film.height) {
      if (++passed === FILMS) return GOOD
      continue
    }
    if ('failure' in answer && answer.failure === 'refused') return { is: 'unclear', reason: answer.message }
    last = wordsOf(answer, film)
    if ('failure' in answer && answer.failure === 'gone') continue // try another video
    const before = await ask(parts.tools.updated, film, isFirst, parts, signal)
    if ('offered' in before && before.offered >= film.height) return { is: 'bad', reason: last }
  }
  if (passed > 0 || films.length === 0) return GOOD
  return { is: 'unclear', reason: say`no archived video could be tested: ${{ last: sentenceOf(last) }}` }
}

const wordsOf = (answer: Answer, { id, height }: Canary): Words =>
  'offered' in answer
    ? say`the video ${{ id }} is offered only in ${{ offered: `${answer.offered}p` }}; it was offered in ${{ height: `${height}p` }} before`
    : say`the video ${{ id }} cannot be downloaded: ${{ message: answer.message }}`

/** @param build  undefined: the one installed by `make` */
async function ask(
  build: Build | undefined,
  { id }: Canary,
  isFetched: boolean,
  { tools, clock, log, inTurn }: CanaryParts,
  signal: AbortSignal,
): Promise<Answer> {
  const request: ChildRequest = { op: 'canary', videoId: id, bytes: isFetched ? FETCHED_BYTES : 0 }
  return inTurn(async () => {
    try {
      const { result } = await withChild(await tools.launch('metadata', null, build ?? null), clock, log, (child) =>
        child.ask(request, { signal, quietMs: QUIET_MS }),
      )
      return { offered: Number(result.height) }
    } catch (error) {
      if (!(error instanceof ChildError)) throw error
      return failureOf(error)
    }
  }, signal)
}

function failureOf({ evidence }: ChildError): Answer {
  const { failure, message } = classify(evidence, 0)
  const { item, isUnanswered } = FAILURES[failure]
  if (item === 'final') return { failure: 'gone', message }
  if (isUnanswered || failure === 'blocked')
    return { failure: 'refused', message: `${PLATFORM} cannot be reached now: ${message}` }
  return { failure: 'failed', message }
}
