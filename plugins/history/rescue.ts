/** Offers to download the remaining videos of a channel that is losing videos, before all others. */
import { DAY_SECONDS, defineRoute, epochSeconds, errors, ID_PATTERN, say, Type } from 'archivolt'
import type { VideoType } from '../platform/types.ts'
import type { App } from './app.ts'
import type { Job } from './losing.ts'

export const rescueTable = {
  number: 4,
  sql: `CREATE TABLE history_rescue (
    channel TEXT PRIMARY KEY,
    -- epoch seconds
    offered_at INTEGER NOT NULL,
    -- of its archived videos, within the day before
    lost INTEGER NOT NULL,
    -- the platform has them, and they are not here
    videos INTEGER NOT NULL,
    -- their length, as far as the platform says
    seconds INTEGER NOT NULL,
    -- 0: answered
    is_open INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
}

export interface Rescue {
  channel: string
  offered_at: number
  lost: number
  videos: number
  seconds: number
  is_open: 0 | 1
}

/** Minimum number of losses of a channel within a day for an offer: fewer may be a coincidence. */
const MANY = 3
/** Minimum time between two offers for a channel. */
const AGAIN_SECONDS = 30 * DAY_SECONDS
const SHOWN_SECONDS = 7 * DAY_SECONDS

export function openRescues({ ledger: { sql }, clock, preferences }: App) {
  /** Channels that lose videos, but are not lost themselves. */
  function due(): Array<{ channel: string; lost: number }> {
    if (!preferences.section('history').rescue) return []
    const now = epochSeconds(clock)
    return sql<{ channel: string; lost: number }>(
      `SELECT channel, count(*) AS lost FROM history_loss
       WHERE kind = 0 AND lost_at > ? AND back_at IS NULL AND with_channel = 0
         AND channel NOT IN (SELECT subject FROM history_loss WHERE kind = 1 AND lost_at IS NOT NULL)
         AND channel NOT IN (SELECT channel FROM history_rescue WHERE offered_at > ?)
       GROUP BY channel HAVING count(*) >= ?`,
    ).all(now - DAY_SECONDS, now - AGAIN_SECONDS, MANY)
  }

  return {
    due,

    open: (): Rescue[] => sql<Rescue>('SELECT * FROM history_rescue WHERE is_open = 1 ORDER BY offered_at DESC').all(),

    isOpen: (channel: string): boolean =>
      sql('SELECT 1 FROM history_rescue WHERE channel = ? AND is_open = 1').get(channel) !== undefined,

    isAny: (): boolean => sql('SELECT 1 FROM history_rescue WHERE is_open = 1 LIMIT 1').get() !== undefined,

    /** Call inside `ledger.write`. */
    offer: (rescue: Omit<Rescue, 'offered_at' | 'is_open'>): void =>
      void sql(
        `INSERT OR REPLACE INTO history_rescue (channel, offered_at, lost, videos, seconds, is_open)
         VALUES (@channel, @offered_at, @lost, @videos, @seconds, @is_open)`,
      ).run({ ...rescue, offered_at: epochSeconds(clock), is_open: rescue.videos > 0 ? 1 : 0 }),

    /** Call inside `ledger.write`. */
    answer: (channel: string): void => void sql('UPDATE history_rescue SET is_open = 0 WHERE channel = ?').run(channel),

    /** Call inside `ledger.write`. */
    forget: (channels: readonly string[]): void =>
      void sql('DELETE FROM history_rescue WHERE channel IN (SELECT value FROM json_each(?))').run(
        JSON.stringify(channels),
      ),
  }
}

export async function offerRescues(job: Job & { id: string; isStopping(): boolean }, app: App): Promise<void> {
  const { rescues } = app.history
  for (const { channel, lost } of rescues.due()) {
    const rest = await restOf(channel, job, app)
    if (!rest) return
    await app.ledger.write(() => rescues.offer({ channel, lost, ...rest }))
    if (rest.videos === 0) continue
    const name = await app.media.titleOf('channel', channel)
    await app.jobs.notify({
      ...{ title: 'Rescue a channel', group: 'history:rescue', level: 'info', shownForSeconds: SHOWN_SECONDS },
      messages: [
        say`${{ count: lost }} videos of ${{ name }} were lost within a day. ${{ rest: rest.videos }} of its other videos are not archived yet`,
      ],
      isOver: () => !rescues.isOpen(channel),
    })
  }
}

/** Videos of the channel that are neither archived nor in the queue. undefined: the platform cannot be asked now. */
async function restOf(
  channel: string,
  { id: asker, signal, isStopping }: Parameters<typeof offerRescues>[0],
  { channels, platform, queue }: App,
): Promise<Pick<Rescue, 'videos' | 'seconds'> | undefined> {
  const tabs = ((await channels.get(channel))?.channel_tabs ?? []) as VideoType[]
  const rest = { videos: 0, seconds: 0 }
  try {
    for (const tab of tabs)
      for await (const entries of platform.list(channel, tab, { asker, signal })) {
        if (isStopping()) return undefined
        const missing = await queue.missing(entries.map(({ id }) => id))
        for (const { id, durationSeconds = 0 } of entries) {
          if (!missing.delete(id)) continue
          rest.videos++
          rest.seconds += Math.round(durationSeconds)
        }
      }
    return rest
  } catch (error) {
    if (!platform.failureOf(error)) throw error
    return undefined
  }
}

const Path = Type.Object({ channelId: Type.String({ pattern: ID_PATTERN }) })

export const listRescues = defineRoute({
  method: 'GET',
  path: '/api/rescue/',
  access: 'admin',
  summary: 'Channels that are losing videos, and how many of their other videos are not archived yet',
  reply: Type.Array(
    Type.Object({
      channel: Type.String({ description: 'its id' }),
      name: Type.String(),
      lost: Type.Integer({ description: 'number of archived videos that were lost within a day' }),
      videos: Type.Integer({ description: 'number of videos that are neither in the archive nor in the queue' }),
      bytes: Type.Integer({ description: 'their estimated size, by their length' }),
      offered: Type.Integer({ description: 'epoch seconds' }),
    }),
  ),
  handle: (_request, { history, media, linkPreviews }: App) =>
    Promise.all(
      history.rescues.open().map(async ({ channel, lost, videos, seconds, offered_at: offered }) => ({
        ...{ channel, name: await media.titleOf('channel', channel), lost, videos },
        ...{ bytes: await linkPreviews.bytesOf(seconds), offered },
      })),
    ),
})

export const rescueChannel = defineRoute({
  method: 'POST',
  path: '/api/rescue/:channelId/',
  access: 'admin',
  summary: 'Download the missing videos of a channel before all others, with or without an offer',
  params: Path,
  reply: Type.Object({ task_id: Type.String() }),
  errors: ['not_found'],
  async handle({ params: { channelId: id }, actor }, app: App) {
    if (!(await app.channels.known([id])).has(id)) throw errors.notFound('channel', id)
    const job = await app.jobs.start('extract_download', {
      ...{ targets: [{ type: 'channel', id }], autoStart: true, userId: actor.id },
    })
    await app.ledger.write(() => app.history.rescues.answer(id))
    return { task_id: job.id }
  },
})

export const declineRescue = defineRoute({
  method: 'DELETE',
  path: '/api/rescue/:channelId/',
  access: 'admin',
  summary: 'Decline the offer: the next one is made after 30 days at the earliest',
  params: Path,
  reply: Type.Null(),
  status: 204,
  errors: ['not_found'],
  async handle({ params: { channelId: id } }, app: App) {
    if (!app.history.rescues.isOpen(id)) throw errors.notFound('rescue', id)
    await app.ledger.write(() => app.history.rescues.answer(id))
    return undefined
  },
})
