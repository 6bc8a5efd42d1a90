/** Routes for the platform's state, and for recognizing pasted texts. */
import { defineRoute, errors, Said, saidOf, say, Type, withinTime } from 'archivolt'
import type { App } from './app.ts'
import { missingIn } from './challenge.ts'
import { Health, healthOf, isUpdating } from './health.ts'
import { PLATFORM } from './name.ts'
import type { PlatformService } from './platform.ts'
import { updateDownloader } from './update-downloader.ts'

const Count = Type.Integer({ minimum: 0 })

const StateReply = Type.Object({
  state: Type.Enum(['open', 'paused', 'blocked', 'offline', 'halted']),
  reason: Type.String(),
  since: Count,
  next_attempt: Count,
  pending: Count,
  waiting: Type.Record(Type.String(), Count),
  downloader: Type.Object({ version: Type.String(), channel: Type.String() }),
  tools: Type.Record(Type.String(), Type.String()),
  space: Type.Object({ media_free: Count, media_total: Count }),
  missing: Type.Array(Type.String()),
  health: Health,
  said: Type.Optional(Said),
})

/** Adds the items that wait for this machine although the gate is open. */
function stateWithItems(app: App) {
  const state = app.platform.state()
  if (state.state !== 'open') return state
  const rest = (app.platform as PlatformService).resting
  for (const reasonOf of [rest, ...app.hook('platform.halted')]) {
    const halted = reasonOf()
    if (halted)
      return { state: 'halted' as const, reason: halted.reason, since: halted.since, next_attempt: halted.nextAttempt }
  }
  return state
}

/** Time limit for each part of the state: an unresponsive disk must not hide the reason of the problem. */
const ANSWER_WITHIN_MS = 5_000

/** Leaves out unavailable parts, because people request the state when something is wrong. */
async function stateOf(app: App) {
  const platform = app.platform as PlatformService
  const had = <Answer>(what: string, ask: () => Promise<Answer>): Promise<Answer | undefined> =>
    withinTime(app.clock, ANSWER_WITHIN_MS, ask(), () =>
      errors.unavailable(say`No answer within ${{ seconds: ANSWER_WITHIN_MS / 1000 }} s`),
    ).catch((error: unknown) => {
      app.log.warn({ err: error }, `the state of the platform lacks ${what}`)
      return undefined
    })
  await had('whether the library is available', () => platform.checkLibrary())
  const wasUpdating = isUpdating(app)
  const [report, challenge, , pending, counts, spaces] = await Promise.all([
    platform.report(),
    had('whether challenges are solved', () => platform.challenge()),
    had('whether the token provider responds', () => platform.tokens.ping()),
    Promise.all(app.hook('platform.pending').map((count) => had('the number of waiting items', count))),
    Promise.all(app.hook('platform.waiting').map((waiting) => had('the failed items', waiting))),
    Promise.all(app.hook('platform.space').map((space) => had('the free space', space))),
  ])
  const { free, total } = spaces.find((space) => space !== undefined) ?? { free: 0, total: 0 }
  const state = stateWithItems(app)
  const { downloader, ...health } = healthOf(app, { report, challenge, wasUpdating })
  const { texts, said } = saidOf([state.reason, downloader.message])
  const [reason = '', message = ''] = texts
  return {
    ...state,
    reason,
    pending: pending.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    waiting: Object.assign({}, ...counts) as Record<string, number>,
    ...report,
    missing: [...report.missing, ...(challenge ? missingIn(challenge) : [])],
    health: { ...health, downloader: { ...downloader, message } },
    said,
    space: { media_free: free, media_total: total },
  }
}

export const showPlatform = defineRoute({
  method: 'GET',
  path: '/api/platform/',
  access: 'admin',
  summary: `The state of downloads: whether ${PLATFORM} is available, which items are waiting, which programs are installed`,
  reply: StateReply,
  handle: (_input, app: App) => stateOf(app),
})

export const commandPlatform = defineRoute({
  method: 'POST',
  path: '/api/platform/',
  access: 'admin',
  summary: `Try ${PLATFORM} again now, pause or resume all requests to it, or update yt-dlp`,
  body: Type.Object({ command: Type.Enum(['retry', 'pause', 'resume', 'update']) }),
  reply: StateReply,
  errors: ['conflict'],
  async handle({ body }, app: App) {
    if (body.command === 'update') await app.jobs.start(updateDownloader, { at_once: true })
    else await app.platform.command(body.command)
    return stateOf(app)
  },
})

/** Percent-encoded, a character takes up to twelve bytes, and the request headers are limited to 32 KB. */
const LONGEST_TEXT = 1200

export const resolveText = defineRoute({
  method: 'GET',
  path: '/api/resolve/',
  access: 'viewer',
  summary: 'The videos, channels and playlists to which ids and links in a text refer, recognized by form alone',
  query: { q: Type.Optional(Type.String({ maxLength: LONGEST_TEXT, description: 'any text' })) },
  reply: Type.Array(
    Type.Object({ type: Type.Enum(['video', 'channel', 'playlist']), id: Type.String(), known: Type.Boolean() }),
  ),
  async handle({ query }, app: App) {
    const isKnown = app.hook('platform.known')
    const targets = app.platform.targetsIn(query.q ?? '').slice(0, MOST_TARGETS)
    return Promise.all(
      targets.map(async (target) => {
        const answers = await Promise.all(isKnown.map((ask) => ask(target)))
        return { type: target.type, id: target.id, known: answers.includes(true) }
      }),
    )
  },
})

const MOST_TARGETS = 100
