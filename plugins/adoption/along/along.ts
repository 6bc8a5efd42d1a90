/**
 * Imports what people have done in the other program: watched marks, positions, kept and ignored videos, subscriptions
 * and playlists. A row is written before each change, and only for real changes, so that an interrupted run can resume
 * and an undo reverts exactly these changes.
 */
import type { NewItem } from '../../download/add.ts'
import type { ProblemCode } from '../../film-kit/types.ts'
import type { App } from '../app.ts'
import type { Along } from '../catalogs/types.ts'
import { endJob } from '../end-job.ts'
import type { Choice } from '../plans/plans.ts'
import type { AdoptionRow } from '../plans/rows.ts'
import type { AdoptionWork, PlaceWork } from '../task-context.ts'
import { list } from './lists.ts'
import { platformList } from './platform-lists.ts'
import type { AlongRow } from './rows.ts'
import type { Brought, Kind, One, Stored, Way } from './ways.ts'

const STEP = 200
const SAFE: Choice['kinds'] = ['keep', 'ignore', 'platform_list']

const choiceOf = ({ choice }: AdoptionRow): Choice =>
  choice === '' ? { kinds: SAFE, users: {} } : (JSON.parse(choice) as Choice)

const byUser = <Name extends Kind>(rows: Stored<Name>[]): Map<number, Stored<Name>[]> => {
  const found = new Map<number, Stored<Name>[]>()
  for (const row of rows) found.set(row.userId, [...(found.get(row.userId) ?? []), row])
  return found
}

const idsOf = (rows: ReadonlyArray<{ one: Brought }>): string[] => rows.map(({ one }) => one.id)

/**
 * The way for marks and positions: only of videos that are in the archive and that the account has not watched here.
 */
const watching = <Name extends 'watched' | 'position'>(
  toldOf: (row: Stored<Name>) => { id: string; at?: number; seconds?: number },
): Way<Name> => ({
  async open(rows, app) {
    const known = await app.videos.known(idsOf(rows))
    return [...byUser(rows)].flatMap(([userId, own]) => {
      const free = app.watch.untouchedBy(userId, idsOf(own))
      return own.filter(({ one: { id } }: { one: Brought }) => known.has(id) && free.has(id))
    })
  },
  async bring(rows, app, { signal }) {
    for (const [userId, own] of byUser(rows)) await app.watch.takeOver(userId, own.map(toldOf), signal)
    return undefined
  },
  async undo(rows, app, { signal }) {
    for (const [userId, own] of byUser(rows)) await app.watch.giveBack(userId, own.map(toldOf), signal)
  },
})

const keep: Way<'keep'> = {
  async open(rows, app) {
    const docs = await app.videos.collection.getMany(idsOf(rows))
    return rows.filter(({ one }) => docs.get(one.id)?.keep === undefined && docs.has(one.id))
  },
  async bring(rows, app) {
    for (const { one } of rows) await app.videos.setKept(one.id, true)
    return undefined
  },
  async undo(rows, app) {
    for (const { one } of rows) await app.videos.setKept(one.id, false)
  },
}

const toItem = ({ id, title, channelId, channelName }: One<'ignore'>): NewItem => ({
  id,
  title: title || id,
  channelId: channelId ?? '',
  channelName: channelName ?? '',
  durationSeconds: 0,
  published: '',
  vidType: 'unknown',
})

const ignore: Way<'ignore'> = {
  async open(rows, app) {
    const missing = await app.queue.missing(idsOf(rows))
    return rows.filter(({ one }) => missing.has(one.id))
  },
  async bring(rows, app) {
    await app.queue.add(
      rows.map(({ one }) => toItem(one)),
      'ignore',
    )
    return undefined
  },
  async undo(rows, app) {
    const items = app.queue.getMany(idsOf(rows))
    for (const [id, { status }] of items) if (status === 'ignore') await app.queue.remove(id)
  },
}

/** Queues videos; a later job asks the platform about them. */
const queue: Way<'queue'> = {
  async open(rows, app) {
    const missing = await app.queue.missing(idsOf(rows))
    return rows.filter(({ one }) => missing.has(one.id))
  },
  async bring(rows, app) {
    const targets = rows.map(({ one: { id } }) => ({ type: 'video', id }))
    return targets.length > 0 ? (await app.jobs.start('extract_download', { targets })).id : undefined
  },
  async undo(rows, app) {
    await endStarted(rows, app)
    const items = app.queue.getMany(idsOf(rows))
    for (const [id, { status }] of items) if (status === 'pending') await app.queue.remove(id)
  },
}

/** The id of the channel: some programs store only its handle. */
const channelOf = ({ id }: One<'channel'>, { channels }: App): string | undefined =>
  id.startsWith('@') ? channels.remembered(id) : id

const channel: Way<'channel'> = {
  async open(rows, app) {
    const docs = await app.channels.collection.getMany(rows.flatMap(({ one }) => channelOf(one, app) ?? []))
    const docOf = (one: One<'channel'>) => docs.get(channelOf(one, app) ?? '')
    return rows
      .filter(({ one }) => !docOf(one)?.channel_subscribed)
      .map((row) => (docOf(row.one) ? { ...row, before: 'here' } : row))
  },
  bring: (rows, app) => subscribe('channel', rows, app),
  async undo(rows, app) {
    await endStarted(rows, app)
    for (const { one, before } of rows) {
      const id = channelOf(one, app)
      if (id === undefined || !(await app.channels.get(id))) continue
      await app.channels.change(id, { channel_subscribed: false })
      if (before === undefined) await dropChannel(id, app)
    }
  },
}

const playlist: Way<'playlist'> = {
  async open(rows, app) {
    const docs = await app.playlists.collection.getMany(idsOf(rows))
    return rows
      .filter(({ one }) => !docs.get(one.id)?.playlist_subscribed)
      .map((row) => (docs.has(row.one.id) ? { ...row, before: 'here' } : row))
  },
  bring: (rows, app) => subscribe('playlist', rows, app),
  async undo(rows, app) {
    await endStarted(rows, app)
    for (const { one, before } of rows) {
      if (!(await app.playlists.get(one.id))) continue
      if (before === undefined) await app.playlists.remove(one.id)
      else await app.playlists.setSubscribed(one.id, false)
    }
  },
}

/** Subscribes to new videos only: old ones were downloaded by the other program, or not wanted. */
async function subscribe(type: 'channel' | 'playlist', rows: ReadonlyArray<{ one: Along }>, app: App) {
  const targets = rows.map(({ one }) => ({ type, id: one.id, take: 'new' }))
  return targets.length > 0 ? (await app.jobs.start('subscribe_to', { targets })).id : undefined
}

/** Ends waiting subscription jobs, which would otherwise run after the undo. */
async function endStarted(rows: ReadonlyArray<{ job?: string }>, app: App): Promise<void> {
  for (const id of new Set(rows.flatMap(({ job }) => job ?? []))) await endJob(id, app)
}

const WAYS: { [Name in Kind]: Way<Name> } = {
  watched: watching(({ one: { id, at = 0 } }) => ({ id, at })),
  position: watching(({ one: { id, seconds } }) => ({ id, seconds })),
  keep,
  ignore,
  queue,
  channel,
  playlist,
  list,
  platform_list: platformList,
}

/** Callers pass rows of the same kind, which the compiler cannot know. */
const wayOf = (kind: Kind): Way<Kind> => WAYS[kind] as unknown as Way<Kind>
/** Kinds that are imported again after more videos were imported. */
const GROWS: readonly Kind[] = ['list', 'platform_list']

/** First row number for missing files, above all row numbers of a catalog. */
const GONE_FROM = 1e12
const GONE: readonly string[] = ['in_archive_only', 'missing_file'] satisfies ProblemCode[]

/** Queues or ignores videos whose file is missing, if a person has chosen this. */
export async function queueGone(on: AdoptionWork): Promise<void> {
  const { adoption, job, app } = on
  const { gone: kind } = choiceOf(adoption)
  if (!kind) return
  for (const rows of app.adoptions.items.pieces(adoption.id, ['problem'], ['planned'], STEP, job.signal)) {
    const own = rows.flatMap(({ number, code, video_id: id }): Stored<Kind>[] =>
      code !== null && GONE.includes(code) && id !== null
        ? [{ number: GONE_FROM + number, userId: 0, one: { kind, id } }]
        : [],
    )
    await importSome(kind, own, on)
  }
}

/** Imports the chosen kinds of data from the catalog; called again after later imports. @returns the number of rows */
export async function importAlong(on: PlaceWork): Promise<number> {
  const { adoption, reading } = on
  const { kinds, users, listsTo } = choiceOf(adoption)
  let brought = 0
  for await (const rows of reading.along()) {
    const chosen = rows.flatMap(({ number, one }): Stored<Kind>[] => {
      const userId = 'owner' in one ? users[one.owner] : one.kind === 'list' ? listsTo : 0
      if (userId === undefined || !kinds.includes(one.kind)) return []
      // A mark without a date gets the date of the import.
      return [{ number, userId, one: one.kind === 'watched' ? { ...one, at: one.at ?? adoption.created_at } : one }]
    })
    for (const kind of new Set(chosen.map(({ one }) => one.kind))) {
      const own = chosen.filter(({ one }) => one.kind === kind)
      brought += await importSome(kind, own, on)
    }
  }
  return brought
}

async function importSome(
  kind: Kind,
  own: Stored<Kind>[],
  { adoption: { id }, job, app }: AdoptionWork,
): Promise<number> {
  const way = wayOf(kind)
  const written = app.adoptions.along.of(
    id,
    own.map(({ number }) => number),
  )
  const fresh = await way.open(
    own.filter(({ number }) => !written.has(number)),
    app,
  )
  await app.adoptions.along.add(id, fresh.map(toRow))
  // Includes rows of an interrupted run, which may not have been completed.
  const open = [...written.values()].filter((row) => row.is_done === 0 || GROWS.includes(kind)).map(toStored)
  const now = [...open, ...fresh]
  const started = await job.step('adoption.along', () => way.bring(now, app, job))
  await app.adoptions.along.setDone(
    id,
    now.map(({ number }) => number),
    started,
  )
  return now.length
}

const toStored = ({ number, data, is_done: isDone }: AlongRow): Stored<Kind> => ({
  ...(JSON.parse(data) as Omit<Stored<Kind>, 'number'>),
  number,
  isDone: isDone === 1,
})
const toRow = ({ number, isDone: _, ...stored }: Stored<Kind>): Omit<AlongRow, 'is_done'> => ({
  number,
  kind: stored.one.kind,
  data: JSON.stringify(stored),
})

export async function leaveAlong({ adoption: { id }, job, app }: AdoptionWork): Promise<void> {
  for (const rows of app.adoptions.along.pieces(id, STEP, job.signal)) {
    for (const kind of new Set(rows.map((row) => row.kind))) {
      const stored = rows.filter((row) => row.kind === kind).map(toStored)
      await job.step('adoption.takeBack', async () => wayOf(kind).undo(stored, app, job))
    }
    await app.adoptions.along.drop(
      id,
      rows.map(({ number }) => number),
    )
  }
}

/** Removes an imported channel unless people have used it since. */
export async function dropChannel(channelId: string, { channels, videos, playlists }: App): Promise<void> {
  const doc = await channels.get(channelId)
  if (!doc || doc.channel_subscribed || Object.keys(doc.channel_overwrites).length > 0) return
  if ((await videos.collection.count({ eq: ['channel_id', channelId] }, 1)) > 0) return
  // Removing the channel would remove its playlists too.
  if ((await playlists.collection.count({ eq: ['playlist_channel_id', channelId] }, 1)) > 0) return
  await channels.remove(channelId)
}
