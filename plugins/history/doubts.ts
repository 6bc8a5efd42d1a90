/**
 * Records every answer of the platform about the existence of a video or channel. A negative answer counts only while
 * requests for other channels succeed: while the platform refuses us, everything may seem to be missing.
 */
import { type Clock, epochSeconds } from 'archivolt'
import type { Answer, Failure, VideoMetadata } from '../platform/types.ts'
import type { Loss } from '../video/schema.ts'
import type { App } from './app.ts'
import { noteAvailability } from './availability.ts'
import { APART_SECONDS } from './pictures.ts'

/** How long a successful request for another video is valid as a canary. */
const CANARY_MS = 3_600_000

/** Kinds of losses by the platform's message, the most precise first; all of them are in the failure class `gone`. */
const LOSSES: ReadonlyArray<[words: RegExp, loss: Loss]> = [
  [/private video|video is private/i, 'private'],
  [/account associated with this video has been terminated/i, 'account'],
  [/account has been terminated|channel does not exist|channel is not available/i, 'account'],
  [/removed by the uploader/i, 'removed'],
  [/removed for violating/i, 'violation'],
  [/copyright claim/i, 'copyright'],
]

const lossOf = ({ message }: Pick<Failure, 'message'>): Loss =>
  LOSSES.find(([words]) => words.test(message))?.[1] ?? 'unavailable'

/** Availabilities limited to some viewers: without their account, such a video seems to be missing. */
const NOT_FOR_ALL: ReadonlySet<unknown> = new Set(['private', 'subscriber_only', 'needs_auth', 'premium_only'])

/** Records for which channels videos were last answered: the last two channels are sufficient. */
export function openCanaries(clock: Clock) {
  let last: Array<{ channel: string; atMs: number }> = []
  return {
    sing(channel: string): void {
      last = [{ channel, atMs: clock.steady() }, ...last.filter((one) => one.channel !== channel)].slice(0, 2)
    },
    /** Whether a video of another channel was answered within the hour. */
    isFresh: (except: string): boolean =>
      last.some(({ channel, atMs }) => channel !== except && clock.steady() - atMs <= CANARY_MS),
  }
}

export async function noteAnswer(answer: Answer, app: App): Promise<void> {
  if (answer.kind === 'playlist' || answer.kind === 'tab') return
  if (!('failure' in answer)) {
    if (answer.kind === 'video') noteCanary(answer.metadata, app)
    else app.history.answered.add(answer.id)
    return isThere(answer.kind, answer.id, app)
  }
  const { kind, id, failure } = answer
  if (app.platform.failures[failure.failure].deactivates) await isGone(kind, id, failure, app)
}

function noteCanary({ channelId, unavailable }: VideoMetadata, app: App): void {
  if (!unavailable) app.history.canaries.sing(channelId)
}

/** Ends a doubt. If the video was lost, people are notified that it is available again. */
async function isThere(kind: 'video' | 'channel', id: string, app: App): Promise<void> {
  const { losses } = app.history
  const row = losses.get(kind, id)
  if (!row || row.back_at !== null) return
  const now = epochSeconds(app.clock)
  if (row.lost_at !== null && kind === 'video')
    await app.videos.change(id, { set: { lost: null, ...(row.is_kept && { keep: null }) } })
  await app.ledger.write(() => {
    // If nobody has been notified of the loss yet, the row is simply removed.
    if (row.is_marked) losses.put({ ...row, back_at: now, is_marked: 0 })
    else losses.remove(kind, id)
    if (kind === 'channel' && row.lost_at !== null) {
      losses.askWith(id, now)
      noteAvailability(kind, id, 'public', app)
    }
  })
}

async function isGone(kind: 'video' | 'channel', id: string, failure: Failure, app: App): Promise<void> {
  const channel = kind === 'channel' ? id : (await app.videos.get(id))?.channel_id
  const isOurs = channel !== undefined && (kind === 'video' || (await app.channels.known([id])).has(id))
  if (!isOurs) return
  const loss = lossOf(failure)
  const seen = app.history.rows.seen(kind, id)?.['availability']
  if (loss === 'private' && NOT_FOR_ALL.has(seen)) return
  const counts = isCounting(channel, app)
  const now = epochSeconds(app.clock)
  await app.ledger.write(() => {
    const row = app.history.losses.get(kind, id)
    if (row && (row.lost_at !== null || row.back_at !== null)) return
    const first = row?.first_at ?? (counts ? now : null)
    const last = counts && first !== null && now - first >= APART_SECONDS ? now : (row?.last_at ?? null)
    // A first answer that does not count is repeated as soon as a canary has succeeded.
    const next = first === null || last !== null ? now : first + APART_SECONDS
    app.history.losses.put({ kind, subject: id, channel, loss, first_at: first, last_at: last, ask_at: next })
  })
}

function isCounting(channel: string, app: App): boolean {
  const isOpen = app.platform.state().state === 'open'
  // Without the account that it used before, the archive sees fewer videos.
  const isSignedOut = app.hook('platform.cookie').some((ask) => ask().state === 'invalid')
  return isOpen && !isSignedOut && app.history.canaries.isFresh(channel)
}
